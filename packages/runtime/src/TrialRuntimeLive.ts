/**
 * `TrialRuntime` over the services of this package and the relay's. The phases are in `internal/runPhases`, what always follows
 * them in `internal/cleanUp`.
 */
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import { RelayObserver } from "@buzz-orchestra/relay/RelayObserver"
import { Effect, FileSystem, Layer, Option, Path, Ref, Scope } from "effect"
import { AgentSupervisor } from "./AgentSupervisor.ts"
import { EnvironmentService } from "./EnvironmentService.ts"
import { cleanUp } from "./internal/cleanUp.ts"
import { evidencePath, EXPORT_EVIDENCE } from "./internal/evidence.ts"
import { ownServices } from "./internal/ownServices.ts"
import { runPhases } from "./internal/runPhases.ts"
import type { Stage } from "./internal/stage.ts"
import { trialRedactor } from "./internal/trialRedactor.ts"
import { EvidenceNotExported, inPhase } from "./RuntimeLaunchError.ts"
import { StackInstaller } from "./StackInstaller.ts"
import { TrialRuntime, type TrialRun } from "./TrialRuntime.ts"

/** Programs have ended by then; what is left are connections and files. */
const RELEASE_DEADLINE = "15 seconds"

type Needs =
  | AgentSupervisor
  | BuzzClient
  | EnvironmentService
  | FileSystem.FileSystem
  | ManifestService
  | Path.Path
  | RelayObserver
  | StackInstaller

/** The runtime over the services that the layer is given. */
export const layer: Layer.Layer<TrialRuntime, never, Needs> = Layer.effect(
  TrialRuntime,
  Effect.gen(function* () {
    const context = yield* ownServices<Needs>()
    return TrialRuntime.of({
      run: Effect.fn("TrialRuntime.run")((trial: TrialRun) => Effect.provide(runTrial(trial), context))
    })
  })
)

const runTrial = (run: TrialRun) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const redactor = trialRedactor(run.handle, run.trial.options)
      const stage = yield* Ref.make<Stage>({})
      const scope = yield* Scope.make()
      const span = Option.getOrUndefined(yield* Effect.option(Effect.currentParentSpan))
      const exit = yield* restore(runPhases({ run, stage, redactor, span })).pipe(Scope.provide(scope), Effect.exit)
      yield* cleanUp(run, stage, redactor, exit)
      yield* run.record.step("release", RELEASE_DEADLINE, Scope.close(scope, exit))
      const end = yield* exit
      yield* requireEvidence(run)
      return end
    })
  )

/** Whoever grades a file that is not there takes an absence for a wrong answer. */
const requireEvidence = Effect.fnUntraced(function* ({ record, trial }: TrialRun) {
  if (trial.options.evidenceFor === undefined) return
  const { facts } = yield* EnvironmentService
  const { cleanup } = yield* record.facts
  const exported = cleanup.find(({ step }) => step === EXPORT_EVIDENCE)
  if (exported?.error === null) return
  const reason = new EvidenceNotExported({
    path: evidencePath(facts),
    detail: exported?.error ?? "it was not collected"
  })
  return yield* inPhase("collect")(reason)
})
