/**
 * Removes what a harness left in a container engine when it was killed: containers, networks, volumes, and images that were
 * built and are old. What is removed is decided in `ReapPlan`; a local sandbox needs none of this, it ends with its harness.
 */
import { Clock, Context, Duration, Effect, Layer, Option, Result } from "effect"
import { ContainerEngine, type OwnedObject } from "./ContainerEngine.ts"
import type { EngineError } from "./EngineError.ts"
import { HostProcess } from "./HostProcess.ts"
import { fromLabels, type LiveHost, OWNER_LABEL } from "./OwnerLabels.ts"
import { planReap, type ReapDecision } from "./ReapPlan.ts"

/** How to reap. */
export interface ReapOptions {
  /** Only says what would be removed. Default false. */
  readonly dryRun?: boolean
  /** Images of dead owners that are younger are kept for the next build of the same content. Default one week. */
  readonly keepImages?: Duration.Input
}

/** What was done, and what was not. */
export interface ReapReport {
  /** Removed, or with `dryRun` to be removed. */
  readonly removed: ReadonlyArray<ReapDecision>
  readonly kept: ReadonlyArray<ReapDecision>
  /** Not removed although its owner is gone, with what the engine said: such as an image that a container uses. */
  readonly refused: ReadonlyArray<{ readonly decision: ReapDecision; readonly detail: string }>
}

const KEEP_IMAGES = Duration.weeks(1)

/** Finds and removes what belongs to nobody any more. */
export class Reaper extends Context.Service<
  Reaper,
  {
    /** Removes what a dead owner on this machine left; never what belongs to a live one or was made elsewhere. */
    reap(options?: ReapOptions): Effect.Effect<ReapReport, EngineError>
  }
>()("@buzz-orchestra/runtime/docker/Reaper") {
  static readonly layer: Layer.Layer<Reaper, never, ContainerEngine | HostProcess> = Layer.effect(
    Reaper,
    Effect.gen(function* () {
      const engine = yield* ContainerEngine
      const host = yield* HostProcess
      const reap = Effect.fn("Reaper.reap")(function* (options: ReapOptions = {}) {
        const objects = yield* engine.listOwned(OWNER_LABEL)
        const plan = planReap(objects, {
          here: yield* liveHost(host, objects),
          now: yield* Clock.currentTimeMillis,
          keepImagesMillis: Duration.toMillis(Duration.fromInputUnsafe(options.keepImages ?? KEEP_IMAGES))
        })
        const kept = plan.filter(({ remove }) => !remove)
        const doomed = plan.filter(({ remove }) => remove)
        if (options.dryRun === true) return { removed: doomed, kept, refused: [] }
        const results = yield* Effect.forEach(doomed, (decision) =>
          Effect.map(Effect.result(engine.removeOwned(decision.object)), (result) => ({ decision, result }))
        )
        const report: ReapReport = {
          kept,
          removed: results.filter(({ result }) => Result.isSuccess(result)).map(({ decision }) => decision),
          refused: results.flatMap(({ decision, result }) =>
            Result.isFailure(result) ? [{ decision, detail: result.failure.message }] : []
          )
        }
        return report
      })
      return Reaper.of({ reap })
    })
  )

  /** Reaps once, beside whatever else starts; says what it removed and what it could not. */
  static readonly layerAtStart: Layer.Layer<never, never, Reaper> = Layer.effectDiscard(
    Effect.gen(function* () {
      const { reap } = yield* Reaper
      const reaping = Effect.flatMap(reap(), ({ refused, removed }) =>
        Effect.gen(function* () {
          for (const { object, why } of removed) yield* Effect.logInfo(`removed ${object.kind} ${object.name}: ${why}`)
          for (const { detail } of refused) yield* Effect.logWarning(detail)
        })
      )
      yield* Effect.forkScoped(Effect.ignore(reaping, { log: true }))
    })
  )
}

/** The processes that owners name, as they are now. */
const liveHost = Effect.fnUntraced(function* (host: HostProcess["Service"], objects: ReadonlyArray<OwnedObject>) {
  if (!host.knowsOthers) return undefined
  const owners = objects.flatMap(({ labels }) => Option.toArray(fromLabels(labels)))
  const pids = new Set(owners.filter((owner) => owner.host === host.self.host).map(({ pid }) => pid))
  const times = new Map(
    yield* Effect.forEach(pids, (pid) => Effect.map(host.startTimeOf(pid), (time) => [pid, time] as const))
  )
  const here: LiveHost = {
    machine: host.self.machine,
    host: host.self.host,
    startTimeOf: (pid) => times.get(pid)
  }
  return here
})
