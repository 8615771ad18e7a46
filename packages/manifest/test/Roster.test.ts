import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as Roster from "../src/Roster.ts"
import { conditionWith } from "../src/testing/TestManifest.ts"

const { manifest } = conditionWith({
  roster: [
    { id: "dev-2", kind: "worker", count: 2 },
    { id: "lead", kind: "orchestrator" },
    { id: "dev", kind: "worker", count: 11 }
  ]
})

const ALL: ReadonlyArray<Roster.AgentKind> = manifest.roster.flatMap(({ id, kind, count }) =>
  Array.from({ length: count }, (_, index) => ({ agentId: `${id}-${index + 1}`, kind }))
)

/** The agent ids of the map in its order, or the tag and message of the refusal. */
const map = (credentials: ReadonlyArray<Roster.AgentKind>) =>
  Result.match(Roster.classesByAgentId(manifest, credentials), {
    onSuccess: (classes) => [...classes].map(([agentId, { id }]) => `${agentId} of ${id}`),
    onFailure: (reason) => [reason._tag, reason.message]
  })

const worker = (agentId: string): Roster.AgentKind => ({ agentId, kind: "worker" })

describe("classesByAgentId", () => {
  it("splits at the last hyphen and orders as the roster and the numbers do", () => {
    assert.deepStrictEqual(map(ALL.toReversed()), [
      "dev-2-1 of dev-2",
      "dev-2-2 of dev-2",
      "lead-1 of lead",
      ...Array.from({ length: 11 }, (_, index) => `dev-${index + 1} of dev`)
    ])
  })

  it.prop("does not depend on the order of the credentials", [Schema.Array(Schema.Int)], ([keys]) => {
    const shuffled = ALL.map((credential, index) => ({ credential, key: keys[index] ?? 0 }))
      .toSorted((a, b) => a.key - b.key)
      .map(({ credential }) => credential)
    assert.deepStrictEqual(map(shuffled), map(ALL))
  })

  it.each(["lead", "lead-", "lead-x", "lead-1a", "lead-1 ", "", "-", "lead-١", "lead--"])(
    "refuses the id %j",
    (agentId) => {
      assert.strictEqual(map([worker(agentId), ...ALL])[0], "AgentIdMalformed")
    }
  )

  it("names the classes there are when there is no such class", () => {
    assert.deepStrictEqual(map([worker("boss-1"), ...ALL]), [
      "AgentClassUnknown",
      "the agent id `boss-1` does not match a roster class: no `boss` among dev-2, lead, dev"
    ])
    assert.strictEqual(map([worker("-1")])[0], "AgentClassUnknown")
  })

  it("refuses a credential of another kind than its class", () => {
    assert.deepStrictEqual(map([worker("lead-1"), ...ALL]), [
      "AgentKindMismatch",
      "the credential of `lead-1` has the role `worker`, its class is of kind `orchestrator`"
    ])
  })

  it("refuses two credentials for one agent", () => {
    assert.strictEqual(map([...ALL, worker("dev-3")])[0], "AgentRepeated")
  })

  it("checks each credential before it looks whether they are complete", () => {
    assert.strictEqual(map([worker("dev-1"), worker("lead-1")])[0], "AgentKindMismatch")
    assert.strictEqual(map([worker("dev-99"), worker("boss-1")])[0], "AgentClassUnknown")
  })

  it("names every agent that is missing", () => {
    assert.deepStrictEqual(map(ALL.filter(({ agentId }) => !["lead-1", "dev-11"].includes(agentId))), [
      "AgentsMissing",
      "no credential for lead-1, dev-11: provision every agent of the roster"
    ])
  })

  it.each(["dev-0", "dev-12", "dev-01", "dev-99999999999999999999"])(
    "refuses the agent %s beyond the roster",
    (agentId) => {
      assert.deepStrictEqual(map([...ALL, worker(agentId)]), [
        "AgentsUnexpected",
        `credentials for agents the roster does not have: ${agentId}`
      ])
    }
  )

  it("does not count to the end of an absurd roster to say that agents are missing", () => {
    const absurd = conditionWith({ roster: [{ id: "lead" }, { id: "dev", count: 1e15 }] }).manifest
    const reason = Result.getOrThrow(Result.flip(Roster.classesByAgentId(absurd, [])))
    assert.strictEqual(reason._tag, "AgentsMissing")
    assert.isBelow(reason.message.length, 1000)
  })
})
