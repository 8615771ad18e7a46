import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import { layerMemory, PROMPT_TEXT } from "@buzz-orchestra/manifest/testing/TestManifest"
import { Schnorr } from "@buzz-orchestra/relay/Schnorr"
import { TestRelay } from "@buzz-orchestra/relay/testing/TestRelay"
import { TestTrialProvisioner } from "@buzz-orchestra/relay/testing/TestTrialProvisioner"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { Trial } from "@buzz-orchestra/runtime/Trial"
import { ARTIFACT_ROOT, testCondition, testTrialOptions } from "@buzz-orchestra/runtime/testing/TestTrial"
import type * as TrialEvents from "@buzz-orchestra/runtime/TrialEvents"
import { recordingFacts } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import * as TrialServices from "@buzz-orchestra/runtime/TrialServices"
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer } from "effect"
import { HttpClient } from "effect/http"
import { Socket } from "effect/socket"

type Expect<Condition extends true> = Condition
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

/** Everything a trial needs but an environment. */
const homeless = TrialServices.layerRuntime.pipe(
  Layer.provide([
    TestTrialProvisioner.layer,
    TestRelay.layer,
    layerMemory({ [`${ARTIFACT_ROOT}/prompt.md`]: PROMPT_TEXT })
  ]),
  Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer))
)

/** A program that forgets a service does not type-check, and the type says which. */
export type Missing = Expect<Same<Layer.Services<typeof homeless>, EnvironmentService>>

/** What a program gets from the one layer: enough to read a manifest and to run it. */
export type Given = Expect<
  Same<Layer.Success<typeof TrialServices.layer>, Trial | TrialEvents.TrialEvents | ManifestService>
>

/** What no part of the composed layer may be asked for here. */
const Unused = Layer.mergeAll(
  Layer.mock(EnvironmentService, { facts: recordingFacts() }),
  Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make(() => Effect.die("a request"))
  ),
  Layer.succeed(Socket.WebSocketConstructor, () => {
    throw new Error("a socket")
  }),
  Schnorr.layerPure,
  NodeCrypto.layerSecureRandom
)

describe("TrialServices", () => {
  it.effect("load what they run", () =>
    Effect.gen(function* () {
      const manifests = yield* ManifestService
      const { condition } = (yield* manifests.load(testCondition().manifest)).manifest
      assert.strictEqual(condition, testCondition().manifest.condition)
    }).pipe(Effect.provide(TrialServices.layer.pipe(Layer.provide([Unused, NodeFileSystem.layer, NodePath.layer]))))
  )

  it.effect("end a trial with the name of the service that a program without types left out", () =>
    Effect.gen(function* () {
      const options = yield* testTrialOptions()
      const untyped = homeless as Layer.Layer<Layer.Success<typeof homeless>>
      const exit = yield* Effect.exit(Trial.use((trial) => trial.run(options)).pipe(Effect.provide(untyped)))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      if (Exit.isFailure(exit)) assert.include(Cause.pretty(exit.cause), "@buzz-orchestra/runtime/EnvironmentService")
    }).pipe(Effect.provide([NodeFileSystem.layer, NodePath.layer]))
  )
})
