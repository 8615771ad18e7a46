import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { conditionWith, layerMemory, PROMPT_TEXT } from "@buzz-orchestra/manifest/testing/TestManifest"
import { MAX_MESSAGE_BYTES } from "@buzz-orchestra/relay/BuzzClient"
import { ARTIFACT_ROOT, testTrialOptions } from "@buzz-orchestra/runtime/testing/TestTrial"
import type { TrialOptions } from "@buzz-orchestra/runtime/TrialOptions"
import { prepare } from "@buzz-orchestra/runtime/TrialPreparation"
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"

const artifacts = layerMemory({
  [`${ARTIFACT_ROOT}/prompt.md`]: PROMPT_TEXT,
  "/changed/prompt.md": `${PROMPT_TEXT}and more`
})

const prepareWith = (fields: Partial<TrialOptions>) => Effect.flatMap(Effect.orDie(testTrialOptions(fields)), prepare)
const refusal = (fields: Partial<TrialOptions>) =>
  Effect.map(Effect.flip(prepareWith(fields)), (error) => {
    assert.strictEqual(error.phase, "prepare")
    return error.reason
  })

const PROVIDER = { provider: "anthropic", api_key_env: "ANTHROPIC_API_KEY" }

layer(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, artifacts))("prepare", (it) => {
  it.effect("fills in the defaults, reads the prompts and composes the task", () =>
    Effect.gen(function* () {
      const prepared = yield* prepareWith({ instruction: "write hello.txt" })
      assert.deepStrictEqual(
        prepared.seats.map(({ agentId }) => agentId),
        ["lead-1", "worker-1"]
      )
      assert.strictEqual(prepared.task, "@lead-1 write hello.txt")
      assert.deepStrictEqual([...prepared.personas.values()], [PROMPT_TEXT, PROMPT_TEXT])
      assert.strictEqual(prepared.maxAgentRounds, 0)
      assert.deepStrictEqual(prepared.readinessTimeout, Duration.seconds(60))
      assert.deepStrictEqual(prepared.settleTimeout, Duration.seconds(60))
    })
  )

  it.effect("takes 0 rounds for unbounded, and no settling at all", () =>
    Effect.gen(function* () {
      const prepared = yield* prepareWith({ maxAgentRounds: 0, settleTimeout: 0 })
      assert.strictEqual(prepared.maxAgentRounds, 0)
      assert.deepStrictEqual(prepared.settleTimeout, Duration.zero)
    })
  )

  for (const [setting, fields, expected] of [
    ["maxAgentRounds", { maxAgentRounds: -1 }, /unbounded/],
    ["maxAgentRounds", { maxAgentRounds: 1.5 }, /whole number/],
    ["readinessTimeout", { readinessTimeout: 0 }, /positive/],
    ["readinessTimeout", { readinessTimeout: Duration.infinity }, /finite/],
    ["settleTimeout", { settleTimeout: -1 }, /negative/],
    ["relayGateway", { relayGateway: "http://gateway:3600" }, /host:port/],
    ["relayGateway", { relayGateway: "gateway" }, /host:port/]
  ] as const) {
    it.effect(`refuses ${setting} ${Object.values(fields)[0]}`, () =>
      Effect.gen(function* () {
        const reason = yield* refusal(fields)
        assert.deepInclude(reason, { _tag: "ConfigurationOutOfBounds", setting })
        assert.match(reason.message, expected)
      })
    )
  }

  for (const [neededFor, fields] of [
    ["agents", { relayUrl: "http://relay" }],
    ["user", { userRelayUrl: "ftp://relay" }],
    ["forwarder", { relayUrl: "wss://relay", relayGateway: "gateway:443" }]
  ] as const) {
    it.effect(`refuses a relay URL that the ${neededFor} cannot use`, () =>
      Effect.gen(function* () {
        const reason = yield* refusal(fields)
        assert.deepInclude(reason, { _tag: "RelayUrlUnusable", neededFor })
        assert.match(reason.message, /ws:\/\//)
      })
    )
  }

  it.effect("refuses an endpoint that the endpoints do not have, naming the agent", () =>
    Effect.gen(function* () {
      const reason = yield* refusal({ endpoints: { other: PROVIDER } })
      assert.deepInclude(reason, { _tag: "EndpointNotConfigured", agentId: "lead-1", endpoint: "test-model" })
    })
  )

  for (const variable of ["BUZZ_ACP_MCP_COMMAND", "BUZZ_PRIVATE_KEY", "BUZZ_ACP_SETUP_PAYLOAD"]) {
    it.effect(`refuses an endpoint that sets ${variable}`, () =>
      Effect.gen(function* () {
        const reason = yield* refusal({ endpoints: { "test-model": { ...PROVIDER, env: { [variable]: "evil" } } } })
        assert.deepInclude(reason, { _tag: "EndpointOverridesIdentity", variables: [variable] })
        assert.match(reason.message, /identity/)
      })
    )
  }

  it.effect("refuses a prompt whose digest is not the pinned one", () =>
    Effect.gen(function* () {
      const reason = yield* refusal({ artifactRoot: "/changed" })
      assert.deepInclude(reason, { _tag: "PromptDigestMismatch", agent: "lead" })
      assert.match(reason.message, /hash mismatch/)
    })
  )

  it.effect("refuses a prompt that cannot be read", () =>
    Effect.gen(function* () {
      const reason = yield* refusal({ artifactRoot: "/nowhere" })
      assert.deepInclude(reason, { _tag: "PromptUnreadable", agent: "lead", path: "/nowhere/prompt.md" })
    })
  )

  it.effect("counts the mention in front of the task, in bytes", () =>
    Effect.gen(function* () {
      const room = MAX_MESSAGE_BYTES - "@lead-1 ".length
      assert.strictEqual((yield* prepareWith({ instruction: "x".repeat(room) })).task.length, MAX_MESSAGE_BYTES)
      const size = MAX_MESSAGE_BYTES + 1
      const limit = MAX_MESSAGE_BYTES
      assert.deepInclude(yield* refusal({ instruction: "x".repeat(room + 1) }), { _tag: "TaskTooLong", size, limit })
      // Two bytes each in UTF-8.
      assert.deepInclude(yield* refusal({ instruction: "é".repeat(room / 2 + 1) }), { _tag: "TaskTooLong" })
    })
  )

  it.effect("refuses a task file that is not there", () =>
    Effect.gen(function* () {
      const reason = yield* refusal({ uploads: [{ source: "/no/such/file", target: "/app/file" }] })
      assert.deepInclude(reason, { _tag: "TaskFileMissing", path: "/no/such/file" })
    })
  )

  it.effect("names the lead of a roster that lists its worker first", () =>
    Effect.gen(function* () {
      const condition = conditionWith({
        roster: [
          { id: "helper", kind: "worker" },
          { id: "boss", kind: "orchestrator" }
        ]
      })
      const prepared = yield* prepareWith({ condition })
      assert.strictEqual(prepared.orchestratorId, "boss-1")
      assert.match(prepared.task, /^@boss-1 /)
    })
  )
})
