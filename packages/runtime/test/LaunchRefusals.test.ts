import { conditionWith, PROMPT_TEXT } from "@buzz-orchestra/manifest/testing/TestManifest"
import { TestRelay } from "@buzz-orchestra/relay/testing/TestRelay"
import { TestTrialProvisioner } from "@buzz-orchestra/relay/testing/TestTrialProvisioner"
import type { TrialHandle } from "@buzz-orchestra/relay/TrialHandle"
import { TrialProvisioner } from "@buzz-orchestra/relay/TrialProvisioner"
import { RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { ARTIFACT_ROOT } from "@buzz-orchestra/runtime/testing/TestTrial"
import * as TrialServices from "@buzz-orchestra/runtime/TrialServices"
import type { TrialOptions } from "@buzz-orchestra/runtime/TrialOptions"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { createHash } from "node:crypto"
import { readSummary, runToDone, startTrial, trialLayer } from "./support/trial.ts"

const PROMPT = `${ARTIFACT_ROOT}/prompt.md`
const digest = (text: string) => createHash("sha256").update(text).digest("hex")

/** Why a trial is refused before an identity exists and before anything is asked of the environment. */
const refusal = Effect.fnUntraced(function* (fields: Partial<TrialOptions>) {
  const { fiber, options } = yield* startTrial(fields)
  const error = yield* Effect.flip(Fiber.join(fiber))
  assert.deepStrictEqual(yield* TestTrialProvisioner.use(({ requests }) => requests), [])
  assert.deepStrictEqual(yield* RecordingEnvironment.use(({ journal }) => journal), [])
  const { error: written } = yield* readSummary(options.directory)
  assert.deepInclude(written, { phase: "prepare", reason: error.reason._tag })
  return error
})

describe("a trial is refused before anything exists", () => {
  it.effect("when a pinned prompt has other bytes", () =>
    Effect.gen(function* () {
      const { message, reason } = yield* refusal({})
      assert.deepInclude(reason, {
        _tag: "PromptDigestMismatch",
        agent: "lead",
        path: PROMPT,
        expected: digest(PROMPT_TEXT),
        actual: digest("changed")
      })
      assert.match(message, /hash mismatch/)
    }).pipe(Effect.provide(trialLayer({ artifacts: { [PROMPT]: "changed" } })))
  )

  it.effect("when a pinned prompt is not there", () =>
    Effect.gen(function* () {
      const { reason } = yield* refusal({})
      assert.deepInclude(reason, { _tag: "PromptUnreadable", agent: "lead", path: PROMPT })
    }).pipe(Effect.provide(trialLayer({ artifacts: {} })))
  )

  it.effect("when an endpoint's variables would make an agent somebody else", () =>
    Effect.gen(function* () {
      const env = { BUZZ_ACP_MCP_COMMAND: "evil" }
      const endpoint = { provider: "anthropic", api_key_env: "ANTHROPIC_API_KEY", env }
      const { message, reason } = yield* refusal({ endpoints: { "test-model": endpoint } })
      assert.deepInclude(reason, { _tag: "EndpointOverridesIdentity", variables: ["BUZZ_ACP_MCP_COMMAND"] })
      assert.match(message, /identity/)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("when an endpoint of the roster has no launch configuration", () =>
    Effect.gen(function* () {
      const { reason } = yield* refusal({ endpoints: {} })
      assert.deepInclude(reason, { _tag: "EndpointNotConfigured", agentId: "lead-1", endpoint: "test-model" })
    }).pipe(Effect.provide(trialLayer()))
  )

  for (const [neededFor, fields] of [
    ["agents", { relayUrl: "http://relay" }],
    ["user", { userRelayUrl: "ftp://relay" }],
    ["forwarder", { relayUrl: "wss://relay", relayGateway: "gateway:3600" }]
  ] as const) {
    it.effect(`when the relay's URL is of no use for the ${neededFor}`, () =>
      Effect.gen(function* () {
        const { message, reason } = yield* refusal(fields)
        assert.deepInclude(reason, { _tag: "RelayUrlUnusable", neededFor })
        assert.match(message, /ws:\/\//)
      }).pipe(Effect.provide(trialLayer()))
    )
  }

  it.effect("when the task with its mention is longer than a message may be, in bytes", () =>
    Effect.gen(function* () {
      const mention = "@lead-1 "
      const fits = "é".repeat((65_536 - mention.length) / 2)
      const { reason } = yield* refusal({ instruction: `${fits}!` })
      assert.deepInclude(reason, { _tag: "TaskTooLong", size: 65_537, limit: 65_536 })
      assert.strictEqual((yield* runToDone({ instruction: fits })).result.outcome, "done")
    }).pipe(Effect.provide(trialLayer()))
  )

  for (const [setting, value, words] of [
    ["maxAgentRounds", -1, /unbounded/],
    ["maxAgentRounds", 1.5, /whole number/],
    ["readinessTimeout", 0, /positive/],
    ["settleTimeout", "Infinity", /finite/]
  ] as const) {
    it.effect(`when ${setting} is ${value}`, () =>
      Effect.gen(function* () {
        const { message, reason } = yield* refusal({ [setting]: value })
        assert.deepInclude(reason, { _tag: "ConfigurationOutOfBounds", setting })
        assert.match(message, words)
      }).pipe(Effect.provide(trialLayer()))
    )
  }

  it.effect("but not for 0 rounds, which means unbounded: the budget is the clock", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* runToDone({ maxAgentRounds: 0 })).result.outcome, "done")
    }).pipe(Effect.provide(trialLayer()))
  )
})

type Credentials = TrialHandle["credentials"]

/** Trials whose provisioner hands out other credentials than the roster asks for. */
const provisionedWith = (alter: (credentials: Credentials) => Credentials) => {
  const altered = Layer.effect(
    TrialProvisioner,
    TrialProvisioner.use((inner) =>
      Effect.succeed({
        ...inner,
        create: (request: Parameters<typeof inner.create>[0]) =>
          Effect.map(inner.create(request), (handle) => ({ ...handle, credentials: alter(handle.credentials) }))
      })
    )
  )
  // Fresh, because the layers of `trialLayer` are the same values and would be shared, unaltered provisioner included.
  return Layer.fresh(TrialServices.layerRuntime).pipe(Layer.provide(altered), Layer.provideMerge(trialLayer()))
}

describe("credentials that are not exactly the roster's are refused", () => {
  const cases: ReadonlyArray<readonly [string, (credentials: Credentials) => Credentials, object]> = [
    [
      "a kind that is not the class's",
      (all) => all.map((each) => ({ ...each, kind: "orchestrator" as const })),
      { _tag: "RoleMismatch", agentId: "worker-1", expected: "worker", actual: "orchestrator" }
    ],
    ["an agent without one", (all) => all.slice(0, 1), { _tag: "CredentialsIncomplete", missing: ["worker-1"] }],
    [
      "one agent too many",
      (all) => [...all, ...all.slice(1).map((each) => ({ ...each, agentId: "worker-2" }))],
      { _tag: "CredentialsIncomplete", unexpected: ["worker-2"] }
    ],
    [
      "two for one agent",
      (all) => [...all, ...all.slice(1)],
      { _tag: "CredentialsIncomplete", repeated: ["worker-1"] }
    ],
    [
      "an agent of no class",
      (all) => all.map((each) => ({ ...each, agentId: each.agentId.replace("worker", "critic") })),
      { _tag: "CredentialWithoutClass", agentId: "critic-1" }
    ]
  ]
  for (const [what, alter, expected] of cases) {
    it.effect(`${what}: nothing is installed, and the channel is taken down`, () =>
      Effect.gen(function* () {
        const { fiber } = yield* startTrial()
        const { message, reason } = yield* Effect.flip(Fiber.join(fiber))
        assert.deepInclude(reason, expected)
        if (reason._tag === "RoleMismatch") assert.match(message, /role/)
        const journal = yield* RecordingEnvironment.use(({ journal }) => journal)
        assert.deepStrictEqual(journal, [])
        assert.strictEqual((yield* TestTrialProvisioner.use(({ tornDown }) => tornDown)).length, 1)
        const sent = yield* TestRelay.use(({ calls }) => calls)
        assert.deepStrictEqual(sent, [])
      }).pipe(Effect.provide(provisionedWith(alter)))
    )
  }

  it.effect("but their order does not matter", () =>
    Effect.gen(function* () {
      const condition = conditionWith({ roster: [{ id: "lead" }, { id: "worker", count: 2 }] })
      assert.strictEqual((yield* runToDone({ condition })).result.outcome, "done")
    }).pipe(Effect.provide(provisionedWith((all) => all.toReversed())))
  )
})
