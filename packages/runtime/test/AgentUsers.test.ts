/** Whom agents run as: what is concluded from what an environment says. What holds in real ones is in `AgentUsersSuite`. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { accountsFor, type AgentUsers } from "@buzz-orchestra/runtime/AgentUsers"
import { DEFAULT_LAYOUT } from "@buzz-orchestra/runtime/Layout"
import { exited, RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { separateAgents } from "../src/internal/separateAgents.ts"
import { parseProbe } from "../src/internal/userSwitch.ts"

const [account] = accountsFor(["lead-1", "worker-1"], "/tmp/home")
const lead = account ?? assert.fail("no account")

const ROOT = "user 0\nmap 0 0 4294967295\n"

/** What a process says that became the account, but for these fields. */
const became = (way: string, fields: Readonly<Record<string, string>> = {}) => {
  const status = {
    Uid: "61001\t61001\t61001\t61001",
    Gid: "61000\t61000\t61000\t61000",
    Groups: " ",
    CapEff: "0000000000000000"
  }
  const lines = Object.entries({ ...status, ...fields }).map(([name, value]) => `${name}:\t${value}\n`)
  return `way ${way}\nwas 7\nis ${fields["is"] ?? "7"}\nName:\tcat\n${lines.join("")}Threads:\t1\n`
}

const becomes = (stdout: string) => {
  const found = parseProbe(stdout, lead)
  return "why" in found ? found.why : found.become(lead)[0]
}

describe("accountsFor", () => {
  it("gives every agent a number, a name and a home of its own, and all the same group", () => {
    const accounts = accountsFor(["lead-1", "worker-1"], "/tmp/home")
    assert.deepStrictEqual(
      accounts.map(({ agentId, gid, home, name, uid }) => [agentId, name, uid, gid, home]),
      [
        ["lead-1", "buzz-agent-1", 61_001, 61_000, "/tmp/home/lead-1"],
        ["worker-1", "buzz-agent-2", 61_002, 61_000, "/tmp/home/worker-1"]
      ]
    )
  })
})

describe("parseProbe", () => {
  it("takes the first way after which the kernel says that the same process is the account", () => {
    assert.strictEqual(becomes(`${ROOT}way setpriv\nwas 3\n${became("chroot")}`), "chroot")
    assert.strictEqual(becomes(`${ROOT}${became("su", { Groups: "61000 " })}`), "su")
  })

  it("refuses a second process, ids that stay, groups and capabilities that are left", () => {
    for (const fields of [
      { is: "8" },
      { Uid: "61001\t0\t61001\t61001" },
      { Gid: "0\t0\t0\t0" },
      { Groups: "0 61000" },
      { CapEff: "00000000a80425fb" }
    ])
      assert.match(`${becomes(`${ROOT}${became("su", fields)}`)}`, /tried su$/)
  })

  it("says why there is none", () => {
    assert.match(`${becomes("user 1000\nmap 0 0 4294967295\n")}`, /its user is 1000/)
    assert.match(`${becomes("user 0\nmap          0       1000          1\n")}`, /user namespace has no user 61001/)
    assert.match(`${becomes(ROOT)}`, /none of setpriv, chroot/)
    assert.match(`${becomes("")}`, /not known/)
  })
})

const separate = (asked: AgentUsers) =>
  separateAgents({ asked, agentIds: ["lead-1", "worker-1"], layout: DEFAULT_LAYOUT })

const answering = (probe: string, prepared = exited(0)) =>
  RecordingEnvironment.use(({ answer }) =>
    answer((command) => (command.includes("uid_map") ? exited(0, { stdout: probe }) : prepared))
  )

const provided = Effect.provide(RecordingEnvironment.layer().pipe(Layer.provide(NodeServices.layer)))

describe("separateAgents", () => {
  it.effect("asks nothing where agents run as the environment's user", () =>
    Effect.gen(function* () {
      const { reason, users } = yield* separate("image")
      assert.deepStrictEqual([users.size, reason], [0, undefined])
      assert.deepStrictEqual(yield* RecordingEnvironment.use(({ commands }) => commands), [])
    }).pipe(provided)
  )

  it.effect("makes a user per agent, who is become in the way that worked", () =>
    Effect.gen(function* () {
      yield* answering(`${ROOT}${became("setpriv")}`)
      const { reason, users } = yield* separate("own")
      assert.deepStrictEqual([...users.keys()], ["lead-1", "worker-1"])
      assert.isTrue(users.get("worker-1")?.become.includes("--reuid=61002"))
      assert.isUndefined(reason)
    }).pipe(provided)
  )

  it.effect("fails where users of their own are insisted on and cannot be had, and says why", () =>
    Effect.gen(function* () {
      yield* answering("user 1000\n")
      const reason = yield* Effect.flip(separate("own"))
      assert.strictEqual(reason._tag, "AgentsNotSeparated")
      assert.match(reason.message, /cannot have users of their own .*its user is 1000/)
    }).pipe(provided)
  )

  it.effect("changes nothing of a machine that others use", () =>
    Effect.gen(function* () {
      assert.match(`${(yield* separate("auto")).reason}`, /it is this machine/)
      assert.deepStrictEqual(yield* RecordingEnvironment.use(({ commands }) => commands), [])
    }).pipe(
      Effect.provide(
        RecordingEnvironment.layer({ facts: { mark: "BUZZ_TRIAL=1" } }).pipe(Layer.provide(NodeServices.layer))
      )
    )
  )

  it.effect("goes on with the environment's user where that is allowed, and says why", () =>
    Effect.gen(function* () {
      yield* answering(
        `${ROOT}${became("setpriv")}`,
        exited(1, { stderr: "buzz-agent-1 cannot write the work directory\n" })
      )
      const { reason, users } = yield* separate("auto")
      assert.deepStrictEqual([users.size, reason], [0, "buzz-agent-1 cannot write the work directory"])
    }).pipe(provided)
  )
})
