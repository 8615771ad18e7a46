/**
 * Notices that a container cannot be used any more, and says why with what the engine knows: it stopped, was paused,
 * removed, ran out of memory, reached its time limit, or the engine itself went away.
 */
import { Deferred, Effect, Option, type Scope, Stream } from "effect"
import { CommandNotRun, EnvironmentError, EnvironmentLost } from "../EnvironmentError.ts"
import { ContainerEngine, type ContainerEvent, type ContainerState } from "./ContainerEngine.ts"
import type { EngineError } from "./EngineError.ts"
import { traitsOf, type EngineFlavor } from "./EngineFlavor.ts"
import { NO_SLEEP_CODE, TIME_LIMIT_CODE } from "./internal/idleScript.ts"

/** Everything that is known of a container that cannot be used. */
export interface LossEvidence {
  readonly flavor: EngineFlavor
  /** `undefined` when the engine has none of that name. */
  readonly state: ContainerState | undefined
  /** The engine said that something in it was killed for lack of memory. */
  readonly outOfMemory: boolean
  /** Our own container ends by itself after this long. */
  readonly timeLimitSeconds: number | undefined
}

const KILLED = 128 + 9

/** Why a container is gone, in words. Pure. */
export const lossDetail = ({ flavor, outOfMemory, state, timeLimitSeconds }: LossEvidence): string => {
  if (state === undefined) return "the container was removed"
  if (state.paused) return "the container is paused; nothing in it runs"
  const { memoryMb } = state.applied.limits
  const limit = memoryMb === undefined ? "the memory of its host" : `its memory limit of ${memoryMb} MiB`
  if (state.outOfMemory || outOfMemory) return `the container was ended by the kernel: it used up ${limit}`
  if (state.exitCode === KILLED && memoryMb !== undefined && !traitsOf(flavor).reportsOutOfMemory)
    return `the container was killed, and its engine does not tell whether it used up ${limit}`
  if (state.exitCode === KILLED) return "the container was killed from outside"
  if (timeLimitSeconds !== undefined && state.exitCode === TIME_LIMIT_CODE)
    return `the container reached its own time limit of ${timeLimitSeconds} s`
  if (timeLimitSeconds !== undefined && state.exitCode === NO_SLEEP_CODE)
    return "the image has no program sleep, which a trial needs"
  return "the container stopped"
}

/** A container that is gone, as an error. */
export const lossOf = (
  environment: string,
  detail: string,
  exitCode?: number | undefined,
  cause?: unknown
): EnvironmentError =>
  new EnvironmentError({
    operation: "EnvironmentService",
    reason: new EnvironmentLost({ environment, detail, exitCode, ...(cause === undefined ? {} : { cause }) })
  })

/** A container under watch. */
export interface LossWatch {
  /** Waits until the container cannot be used any more, and says why. */
  readonly lost: Effect.Effect<EnvironmentError>
  /** A process that the engine did not start may be the first sign of it: the loss if there is one, else the refusal. */
  readonly explain: (error: EngineError) => Effect.Effect<EnvironmentError>
}

interface Watched {
  readonly id: string
  /** Names the container in errors. */
  readonly name: string
  readonly timeLimitSeconds: number | undefined
}

/** One long-lived request, however long the container is used. The scope owns it. */
export const watchForLoss = Effect.fnUntraced(function* ({
  id,
  name,
  timeLimitSeconds
}: Watched): Effect.fn.Return<LossWatch, EngineError, ContainerEngine | Scope.Scope> {
  const engine = yield* ContainerEngine
  const lost = yield* Deferred.make<EnvironmentError>()
  const { flavor } = engine.facts
  let outOfMemory = false

  /** The loss that the engine can see now, if any. */
  const look = Effect.map(engine.inspectContainer(id), (state) =>
    state !== undefined && state.running && !state.paused
      ? Option.none()
      : Option.some(lossOf(name, lossDetail({ flavor, state, outOfMemory, timeLimitSeconds }), state?.exitCode))
  )
  const unreachable = (error: EngineError) => lossOf(name, error.message, undefined, error)
  const settle = Effect.fnUntraced(function* (event: ContainerEvent) {
    if (event === "out-of-memory") {
      outOfMemory = true
      return
    }
    const loss = yield* Effect.mapError(look, unreachable)
    // A container that was paused and went on again, or was started anew, is not the one that the trial ran in.
    const seen = Option.getOrElse(loss, () => lossOf(name, `the container was ${event} and runs again`))
    yield* Deferred.succeed(lost, seen)
  })
  const events = yield* engine.follow(id)
  yield* Stream.runForEach(events, settle).pipe(
    Effect.mapError((error) => (error._tag === "EnvironmentError" ? error : unreachable(error))),
    // The stream's end is the engine's end.
    Effect.andThen(Effect.fail(lossOf(name, `the container engine at ${engine.facts.address} ended the connection`))),
    Effect.catch((error) => Deferred.succeed(lost, error)),
    Effect.forkScoped
  )
  return {
    lost: Deferred.await(lost),
    explain: (error) =>
      error._tag === "EngineUnreachable"
        ? Effect.succeed(unreachable(error))
        : Effect.map(Effect.option(look), (seen) => Option.getOrElse(Option.flatten(seen), () => refused(name, error)))
  }
})

const refused = (environment: string, cause: EngineError): EnvironmentError =>
  new EnvironmentError({
    operation: "EnvironmentService",
    reason: new CommandNotRun({ environment, action: "start a process", detail: cause.message, cause })
  })
