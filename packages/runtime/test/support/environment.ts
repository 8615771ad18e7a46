/** What the suites of an environment share. */
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import type { Vitest } from "@effect/vitest"
import { Effect, type FileSystem, type Path, Stream } from "effect"
import type { WatchEvent } from "@buzz-orchestra/runtime/WatchEvent"
import { concat } from "../../src/internal/markedFrames.ts"
import { eventually } from "./shells.ts"

/** `it` of a block that shares one environment; the clock is the real one. */
export type EnvironmentIt = Vitest.MethodsNonLive<EnvironmentService | FileSystem.FileSystem | Path.Path>

export interface EnvironmentSuiteOptions {
  /** A user of the environment that is not its own; none where there is only one. */
  readonly otherUser?: string
  /** Where everybody may write; default: `/tmp`. */
  readonly temporary?: string
  /** Without what moves much data: for another form of an environment that is held to the whole contract anyway. */
  readonly isBrief?: boolean
}

/** A command's stdout; the command must succeed. */
export const output = Effect.fnUntraced(function* (command: string) {
  const environment = yield* EnvironmentService
  const { exitCode, stderr, stdout } = yield* environment.exec(command)
  if (exitCode !== 0) return yield* Effect.die(new Error(`${command}: ${stderr}`))
  return stdout
})

/** An empty directory in the environment's work directory. */
export const scratch = Effect.map(output('cd "$(mktemp -d ./scratch-XXXXXX)" && pwd'), (text) => text.trim())

/** Whether a process inside is alive: a zombie is not. */
export const isAlive = (pid: string | number) =>
  Effect.map(
    output(`cat /proc/${String(pid).trim()}/stat 2>/dev/null || echo gone`),
    (stat) => !/^gone|\) [ZX] /.test(stat)
  )

export const gone = (pid: string | number) => eventually(isAlive(pid), (alive) => !alive)

/**
 * Events of a watch as they come: what each log has so far (of one named `flood…` only the number of bytes), what became of each
 * process, complete rounds.
 */
export const follow = Effect.fnUntraced(function* (
  directory: string,
  /** Runs before an event counts; what it waits for holds up the stream. */
  pace: (event: WatchEvent) => Effect.Effect<void> = () => Effect.void
) {
  const environment = yield* EnvironmentService
  const stream = yield* environment.watch(directory)
  const logs = new Map<string, Uint8Array>()
  const events: Array<WatchEvent> = []
  const firstSeen = new Map<string, number>()
  let rounds = 0
  let received = 0
  let seen = 0
  yield* Stream.runForEach(stream, (event) =>
    Effect.map(
      Effect.andThen(
        Effect.sync(() => void (event._tag === "LogBytes" && seen++)),
        pace(event)
      ),
      () => {
        if (event._tag === "RoundCompleted") rounds++
        else if (event._tag !== "LogBytes") events.push(event)
        else {
          if (!firstSeen.has(event.file)) firstSeen.set(event.file, received)
          received += event.bytes.length
          if (event.file.startsWith("flood")) return
          const before = logs.get(event.file) ?? new Uint8Array(0)
          logs.set(event.file, concat(before.subarray(0, event.offset), event.bytes))
        }
      }
    )
  ).pipe(Effect.ignore, Effect.forkScoped)
  const awaitLog = (file: string, holds: (text: string) => boolean) =>
    eventually(
      Effect.sync(() => new TextDecoder().decode(logs.get(file))),
      holds
    )
  const awaitEvent = (holds: (event: WatchEvent) => boolean) =>
    eventually(
      Effect.sync(() => events.find(holds)),
      (event) => event !== undefined
    )
  return {
    events,
    logs,
    received: () => received,
    /** Events with bytes that have come, counted or not. */
    seen: () => seen,
    /** Bytes of all logs that had come before the first of this one. */
    firstSeen,
    awaitLog,
    awaitEvent,
    /** Two more rounds: the first may have begun before now. */
    caughtUp: Effect.suspend(() => {
      const goal = rounds + 2
      return eventually(
        Effect.sync(() => rounds),
        (count) => count >= goal
      )
    })
  }
})
