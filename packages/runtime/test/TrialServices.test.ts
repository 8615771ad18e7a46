import { layerMemory, PROMPT_TEXT } from "@buzz-orchestra/manifest/testing/TestManifest"
import { TestRelay } from "@buzz-orchestra/relay/testing/TestRelay"
import { TestTrialProvisioner } from "@buzz-orchestra/relay/testing/TestTrialProvisioner"
import type { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { Trial } from "@buzz-orchestra/runtime/Trial"
import { ARTIFACT_ROOT, testTrialOptions } from "@buzz-orchestra/runtime/testing/TestTrial"
import * as TrialServices from "@buzz-orchestra/runtime/TrialServices"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer } from "effect"

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

describe("TrialServices", () => {
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
