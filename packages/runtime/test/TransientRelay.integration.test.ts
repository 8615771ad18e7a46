// @module-tag thorough
/** Trials of doubles on a real relay that makes trouble: nothing that passes costs a trial, and the summary tells of it. */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as NodeWS from "@effect/platform-node/NodeWS"
import { layerMemory as layerManifests, PROMPT_TEXT } from "@buzz-orchestra/manifest/testing/TestManifest"
import { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import * as BuzzClientNative from "@buzz-orchestra/relay/BuzzClientNative"
import * as RelayObserverLive from "@buzz-orchestra/relay/RelayObserverLive"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import { EmbeddedRelay } from "@buzz-orchestra/relay/server/EmbeddedRelay"
import { RelayFaults } from "@buzz-orchestra/relay/testing/RelayFaults"
import type { TrialHandle } from "@buzz-orchestra/relay/TrialHandle"
import { TrialHandleStore } from "@buzz-orchestra/relay/TrialHandleStore"
import { TrialProvisioner } from "@buzz-orchestra/relay/TrialProvisioner"
import * as TrialProvisionerLive from "@buzz-orchestra/relay/TrialProvisionerLive"
import { RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import { ARTIFACT_ROOT, testTrialOptions } from "@buzz-orchestra/runtime/testing/TestTrial"
import { Trial } from "@buzz-orchestra/runtime/Trial"
import { layerRuntime } from "@buzz-orchestra/runtime/TrialServices"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { createServer } from "node:http"
import { awaitEvent } from "./support/trial.ts"

const relay = EmbeddedRelay.layer().pipe(
  Layer.provide(NodeHttpServer.layerServer(createServer, { port: 0, host: "127.0.0.1" })),
  Layer.provideMerge(RelayFaults.layer)
)

const layer = layerRuntime.pipe(
  Layer.provideMerge(TestStack.layer),
  Layer.provideMerge(RecordingEnvironment.layer()),
  Layer.provideMerge(Layer.mergeAll(TrialProvisionerLive.layer, RelayObserverLive.layer)),
  Layer.provideMerge(BuzzClientNative.layer),
  Layer.provideMerge(relay),
  Layer.provide(TrialHandleStore.layerMemory),
  Layer.provideMerge(layerManifests({ [`${ARTIFACT_ROOT}/prompt.md`]: PROMPT_TEXT })),
  Layer.provideMerge(
    Layer.mergeAll(
      NodeServices.layer,
      FetchHttpClient.layer,
      NodeWS.layerWebSocketConstructor,
      NodeCrypto.layerSecureRandom,
      SchnorrWasm.layer
    )
  )
)

/** A trial that is being observed, and its lead's voice. */
const observed = Effect.gen(function* () {
  const { url } = yield* EmbeddedRelay
  const client = yield* BuzzClient
  const provisioner = yield* TrialProvisioner
  const options = yield* testTrialOptions({ relayUrl: url })
  const fiber = yield* Effect.forkScoped(Trial.use((trial) => trial.run(options)))
  yield* awaitEvent(({ _tag }) => _tag === "Waiting")
  // Provisioned already: the same trial gives the same handle.
  const { condition, runId, trialId } = options
  const handle: TrialHandle = yield* provisioner.create({
    runId,
    trialId,
    manifest: condition.manifest,
    manifestHash: condition.sha256,
    relayUrl: url,
    apiKeys: options.apiKeys
  })
  const [lead] = handle.credentials
  if (lead === undefined) return yield* Effect.die(new Error("the trial has no lead"))
  const say = (content: string) =>
    client.send({ relayUrl: url, identity: lead.identity }, { channelId: handle.channelId, content })
  return { fiber, say }
})

const warned = (words: RegExp) => awaitEvent((event) => event._tag === "Warned" && words.test(event.detail))

it.live(
  "a relay that is away for a while, with the team's DONE: said meanwhile",
  () =>
    Effect.gen(function* () {
      const faults = yield* RelayFaults
      const { fiber, say } = yield* observed
      yield* faults.answerNext(2, { status: 503, path: "/" })
      yield* faults.cutConnections
      yield* warned(/the connection to the relay broke/)
      yield* say("DONE: while nobody looked")
      const { outcome, summary } = yield* Fiber.join(fiber)
      assert.strictEqual(outcome, "done")
      assert.match(
        summary.warnings.join("\n"),
        /the connection to the relay broke.*\n(.*\n)*connected to the relay again/
      )
      assert.isNull(summary.error)
    }).pipe(Effect.timeout("18 seconds"), Effect.scoped, Effect.provide(layer)),
  20_000
)

it.live(
  "a reading that gets a 429 after a reconnection",
  () =>
    Effect.gen(function* () {
      const faults = yield* RelayFaults
      const { fiber, say } = yield* observed
      yield* faults.answerNext(1, { status: 429, path: "/query", retryAfterSeconds: 1 })
      yield* faults.cutConnections
      yield* warned(/tried again: .*asks to slow down/)
      yield* say("DONE: it is there")
      const { outcome, summary } = yield* Fiber.join(fiber)
      assert.strictEqual(outcome, "done")
      assert.isNull(summary.error)
      assert.strictEqual(yield* faults.remaining, 0)
    }).pipe(Effect.timeout("18 seconds"), Effect.scoped, Effect.provide(layer)),
  20_000
)

it.live(
  "a reading that is refused once after a reconnection",
  () =>
    Effect.gen(function* () {
      const faults = yield* RelayFaults
      const { fiber, say } = yield* observed
      yield* faults.answerNext(1, { status: 400, path: "/query" })
      yield* faults.cutConnections
      yield* warned(/tried again: .*refused/)
      yield* say("DONE: it is there")
      assert.strictEqual((yield* Fiber.join(fiber)).outcome, "done")
    }).pipe(Effect.timeout("18 seconds"), Effect.scoped, Effect.provide(layer)),
  20_000
)
