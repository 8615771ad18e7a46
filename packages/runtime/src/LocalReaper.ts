/**
 * Ends and removes what a harness left on this machine when it was killed. Of a sandbox normally nothing: the kernel ends it with
 * its harness. Of a plain environment everything that ran in it. What is ended is decided in `LocalReapPlan`.
 */
import { Context, Effect, FileSystem, Layer, type Path } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { HostProcess } from "./docker/HostProcess.ts"
import type { LiveHost } from "./docker/OwnerLabels.ts"
import { ancestorsOf, localLeftovers } from "./internal/localLeftovers.ts"
import { ownServices } from "./internal/ownServices.ts"
import { signalScript } from "./internal/sweepScript.ts"
import { type LocalDecision, type LocalLeftovers, type OwnedProcess, planLocalReap } from "./LocalReapPlan.ts"

/** How to reap. */
export interface LocalReapOptions {
  /** Only says what would be removed. Default false. */
  readonly dryRun?: boolean
}

/** What was done, and what was not. */
export interface LocalReapReport {
  /** Ended or removed, or with `dryRun` to be. */
  readonly removed: ReadonlyArray<LocalDecision>
  readonly kept: ReadonlyArray<LocalDecision>
  /** Still there although its owner is gone, with the reason. */
  readonly refused: ReadonlyArray<{ readonly decision: LocalDecision; readonly detail: string }>
}

type Needs = ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem | HostProcess | Path.Path

/** Finds and ends what belongs to nobody any more. */
export class LocalReaper extends Context.Service<
  LocalReaper,
  {
    /** Ends what a dead owner on this machine left; never what belongs to a live one or is from elsewhere. */
    reap(options?: LocalReapOptions): Effect.Effect<LocalReapReport>
  }
>()("@buzz-orchestra/runtime/LocalReaper") {
  static readonly layer: Layer.Layer<LocalReaper, never, Needs> = Layer.effect(
    LocalReaper,
    Effect.gen(function* () {
      const context = yield* ownServices<Needs>()
      return LocalReaper.of({
        reap: Effect.fn("LocalReaper.reap")((options: LocalReapOptions = {}) =>
          Effect.provide(reap(options.dryRun ?? false), context)
        )
      })
    })
  )

  /** Reaps once, beside whatever else starts; says what it ended and what it could not. */
  static readonly layerAtStart: Layer.Layer<never, never, LocalReaper> = Layer.effectDiscard(
    Effect.gen(function* () {
      const { reap } = yield* LocalReaper
      const reaping = Effect.gen(function* () {
        const { refused, removed } = yield* reap()
        for (const decision of removed) yield* Effect.logInfo(`removed ${nameOf(decision)}: ${decision.why}`)
        for (const { decision, detail } of refused) yield* Effect.logWarning(`${nameOf(decision)}: ${detail}`)
      })
      yield* Effect.forkScoped(reaping)
    })
  )
}

const nameOf = ({ object }: LocalDecision): string =>
  object.kind === "process" ? `process ${object.pid} (${object.command})` : `directory ${object.path}`

const reap = Effect.fnUntraced(function* (dryRun: boolean) {
  const host = yield* HostProcess
  const found = yield* localLeftovers
  const plan = planLocalReap(found, { here: yield* liveHost(found), spare: yield* ancestorsOf(host.self.pid) })
  const kept = plan.filter((decision) => !decision.remove)
  const doomed = plan.filter((decision) => decision.remove)
  if (dryRun) return { removed: doomed, kept, refused: [] }
  const results = yield* Effect.forEach(doomed, (decision) =>
    Effect.map(remove(decision), (detail) => ({ decision, detail }))
  )
  const report: LocalReapReport = {
    kept,
    removed: results.flatMap(({ decision, detail }) => (detail === undefined ? [decision] : [])),
    refused: results.flatMap(({ decision, detail }) => (detail === undefined ? [] : [{ decision, detail }]))
  }
  return report
})

/** The processes that owners name, as they are now. */
const liveHost = Effect.fnUntraced(function* ({ directories, processes }: LocalLeftovers) {
  const { knowsOthers, self, startTimeOf } = yield* HostProcess
  if (!knowsOthers) return undefined
  const pids = new Set([
    ...processes.flatMap(({ owner }) => (owner === "invalid" ? [] : [owner.pid])),
    ...directories.map(({ owner }) => owner.pid)
  ])
  const times = new Map(
    yield* Effect.forEach(pids, (pid) => Effect.map(startTimeOf(pid), (time) => [pid, time] as const))
  )
  const here: LiveHost = { machine: self.machine, host: self.host, startTimeOf: (pid) => times.get(pid) }
  return here
})

/** Until the kernel must have ended a process that was killed, in milliseconds. */
const KILL_LIMIT_MILLIS = 2000

/** Returns why it is still there, if it is. */
const remove = ({ object }: LocalDecision): Effect.Effect<string | undefined, never, Needs> =>
  object.kind === "process" ? end(object) : removeDirectory(object.path)

/** By KILL: its owner is gone, and nobody waits for what it may still have to say. A recycled pid is never hit. */
const end = (process: OwnedProcess) =>
  ChildProcessSpawner.ChildProcessSpawner.use((spawner) =>
    spawner.string(ChildProcess.make("sh", ["-c", signalScript("KILL", [process], KILL_LIMIT_MILLIS)]))
  ).pipe(
    Effect.match({
      onFailure: ({ message }) => message,
      onSuccess: (left) => (left.trim() === "" ? undefined : "it was killed and is still there")
    })
  )

const removeDirectory = (path: string) =>
  FileSystem.FileSystem.use((fs) => fs.remove(path, { recursive: true, force: true })).pipe(
    Effect.match({ onFailure: ({ message }) => message, onSuccess: () => undefined })
  )
