import { conditionWith, PROMPT_TEXT } from "@buzz-orchestra/manifest/testing/TestManifest"
import { TestRelay } from "@buzz-orchestra/relay/testing/TestRelay"
import type { EnvironmentVariables } from "@buzz-orchestra/runtime/EnvironmentService"
import { DEFAULT_LAYOUT } from "@buzz-orchestra/runtime/Layout"
import * as RelayForwarder from "@buzz-orchestra/runtime/RelayForwarder"
import { FORWARDER } from "@buzz-orchestra/runtime/StackFiles"
import { type Recorded, RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import { inBundle, promptName } from "@buzz-orchestra/runtime/BundleFiles"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, FileSystem, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { openSupervision, supervisionLayer } from "./support/supervision.ts"
import { CHANNEL, LEAD, runToDone, trialLayer } from "./support/trial.ts"

const { bin, caBundle, prompts } = DEFAULT_LAYOUT

const plain = (env: EnvironmentVariables | undefined) =>
  Object.fromEntries(
    Object.entries(env ?? {}).map(([name, value]) => [name, Redacted.isRedacted(value) ? Redacted.value(value) : value])
  )

const launchedWith = (agentId: string) =>
  Effect.map(
    TestStack.use(({ programs }) => programs),
    (programs) => plain(programs.get(agentId)?.env)
  )

const journal = RecordingEnvironment.use(({ journal }) => journal)
const isLaunchOf = (agentId: string) => (entry: Recorded) =>
  entry._tag === "Executed" && entry.command.includes(`${agentId}.stdout.log`) && entry.command.includes("/buzz-acp")

describe("an agent of a trial", () => {
  for (const [what, budget, rounds] of [
    ["no limit of calls", {}, "0"],
    ["seven calls", { max_calls: 7 }, "7"]
  ] as const) {
    it.effect(`is wired as the product wires it, with ${what}`, () =>
      Effect.gen(function* () {
        const roster = [{ id: "lead", budget }, { id: "worker" }]
        yield* runToDone({ condition: conditionWith({ roster }), relayUrl: "ws://relay.test:3600" })
        const env = yield* launchedWith("lead-1")
        assert.deepInclude(env, {
          BUZZ_ACP_AGENT_COMMAND: `${bin}/buzz-agent`,
          BUZZ_ACP_AGENT_ARGS: "",
          BUZZ_ACP_MCP_COMMAND: `${bin}/buzz-dev-mcp`,
          BUZZ_ACP_CHANNELS: CHANNEL,
          BUZZ_ACP_SYSTEM_PROMPT_FILE: `${prompts}/lead-1.system-prompt.md`,
          BUZZ_RELAY_URL: "ws://relay.test:3600",
          BUZZ_PRIVATE_KEY: Redacted.value(LEAD.secretKey),
          NOSTR_PRIVATE_KEY: Redacted.value(LEAD.secretKey),
          BUZZ_AGENT_NO_HINTS: "1",
          BUZZ_AGENT_MAX_ROUNDS: rounds,
          SSL_CERT_FILE: caBundle
        })
        assert.notProperty(env, "SSL_CERT_DIR")
      }).pipe(Effect.provide(trialLayer()))
    )
  }

  it.effect("is launched only after the whole stack, the certificates and its prompt are there", () =>
    Effect.gen(function* () {
      yield* runToDone()
      const entries = yield* journal
      const uploaded = (target: string) =>
        entries.findIndex((entry) => entry._tag === "Uploaded" && entry.target === target)
      const [lead, worker] = ["lead-1", "worker-1"].map((agentId) => entries.findIndex(isLaunchOf(agentId)))
      const launch = Math.min(lead ?? -1, worker ?? -1)
      for (const target of [...["buzz-acp", "buzz-agent", "buzz-dev-mcp"].map((name) => `${bin}/${name}`), caBundle])
        assert.isTrue(uploaded(target) !== -1 && uploaded(target) < launch, target)
      assert.isTrue(uploaded(`${prompts}/lead-1.system-prompt.md`) < (lead ?? -1))
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("finds in its prompt what the trial directory keeps of it, readable by its owner only", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { options } = yield* runToDone()
      const path = `${options.directory}/${inBundle(promptName("lead-1"))}`
      const kept = yield* fs.readFileString(path)
      assert.strictEqual((yield* fs.stat(path)).mode & 0o777, 0o600)
      assert.isTrue(kept.startsWith(PROMPT_TEXT))
      assert.match(kept, /\| worker-1 \| worker \|/)
      assert.notMatch(kept, /\| lead-1 \|/)
      const files = yield* RecordingEnvironment.use(({ files }) => files)
      const uploaded = files.get(`${prompts}/lead-1.system-prompt.md`)
      assert.strictEqual(new TextDecoder().decode(uploaded?.content as Uint8Array), kept)
      assert.strictEqual(uploaded?.mode, 0o600)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("has no forwarder beside it where no gateway is configured", () =>
    Effect.gen(function* () {
      yield* runToDone()
      const programs = yield* TestStack.use(({ programs }) => programs)
      assert.sameMembers([...programs.keys()], ["lead-1", "worker-1"])
    }).pipe(Effect.provide(trialLayer()))
  )
})

describe("a forwarder whose port stays held", () => {
  const BUSY = "Error: Os { code: 98, kind: AddrInUse }"

  it.effect("fails with what it last said", () =>
    Effect.gen(function* () {
      const { supervision } = yield* openSupervision
      const failing = TestStack.use((stack) => stack.failNext(FORWARDER, 1, BUSY))
      const stack = { layout: DEFAULT_LAYOUT, digests: { [FORWARDER]: "0".repeat(64) }, architecture: "x86_64" }
      const readyWithin = Duration.seconds(60)
      const starting = RelayForwarder.start({
        supervision,
        stack,
        relayUrl: "ws://localhost:3600",
        gateway: "gateway:3600",
        readyWithin
      })
      const fiber = yield* Effect.forkScoped(Effect.flip(starting))
      while (fiber.pollUnsafe() === undefined) {
        yield* failing
        yield* TestClock.adjust("100 millis")
      }
      const error = yield* Fiber.join(fiber)
      assert.strictEqual(error._tag, "ForwarderPortBusy")
      assert.deepStrictEqual("lastLines" in error ? error.lastLines : [], [BUSY])
    }).pipe(Effect.provide(supervisionLayer()))
  )
})

describe("the user of a trial", () => {
  const dialled = Effect.map(
    TestRelay.use(({ calls }) => calls),
    (calls) => [...new Set(calls.map(({ actor }) => actor.relayUrl))]
  )
  const relayUrl = "ws://host.docker.internal:3600"

  it.effect("dials the host's view of the relay, while the agents dial their own", () =>
    Effect.gen(function* () {
      yield* runToDone({ relayUrl, userRelayUrl: "http://localhost:3600" })
      assert.deepStrictEqual(yield* dialled, ["http://localhost:3600"])
      assert.strictEqual((yield* launchedWith("worker-1"))["BUZZ_RELAY_URL"], relayUrl)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("dials the agents' relay over HTTP where there is no other view", () =>
    Effect.gen(function* () {
      yield* runToDone({ relayUrl })
      assert.deepStrictEqual(yield* dialled, ["http://host.docker.internal:3600"])
    }).pipe(Effect.provide(trialLayer()))
  )
})
