/**
 * The one watch of a trial and what it has reported: logs line by line, and processes. One fiber reads it; everything
 * else waits for a change of the values kept here.
 */
import { Cause, Deferred, Effect, Option, Ref, type Scope, Stream, SubscriptionRef } from "effect"
import { EnvironmentError, EnvironmentLost } from "../EnvironmentError.ts"
import { EnvironmentService } from "../EnvironmentService.ts"
import type { LogLine } from "../LogRecord.ts"
import type { WatchEvent } from "../WatchEvent.ts"
import * as ProcessTable from "./processTable.ts"
import * as ProgramLog from "./programLog.ts"

export interface StackWatchOptions {
  readonly directory: string
  /** Sees every event before anything is concluded from it. */
  readonly onEvent: (event: WatchEvent) => Effect.Effect<void>
  /** Sees each complete line of a program's logs, in order per log. */
  readonly onLine: (name: string, line: LogLine) => Effect.Effect<void>
  /** A process ended. */
  readonly onDeath: (name: string, pid: number) => Effect.Effect<void>
}

export interface StackWatch {
  /** Forgets what an earlier process of that name said. */
  reset(name: string): Effect.Effect<void>
  /** What was reported of a process, once anything was. */
  sighting(name: string, pid: number): Effect.Effect<ProcessTable.Sighting, EnvironmentError>
  /** Returns when the process has ended. */
  gone(name: string, pid: number): Effect.Effect<void, EnvironmentError>
  /** What is known of a process so far. */
  find(name: string, pid: number): Effect.Effect<ProcessTable.Sighting | undefined>
  /** The first line, since `reset`, in which `pattern` is found. */
  awaitLine(name: string, pattern: RegExp): Effect.Effect<string, EnvironmentError>
  /** What a program said last, oldest first. */
  lastLines(name: string): Effect.Effect<ReadonlyArray<string>>
  /** Returns once so many bytes of each of these logs have been handled. */
  handled(sizes: ReadonlyMap<string, number>): Effect.Effect<void, EnvironmentError>
  /** Fails when the watch is gone; never succeeds. */
  readonly lost: Effect.Effect<never, EnvironmentError>
}

/** What one program said, and who waits for it to say something. */
interface Speech {
  readonly log: ProgramLog.ProgramLog
  readonly waits: ReadonlyArray<{ readonly pattern: RegExp; readonly found: Deferred.Deferred<string> }>
}

const SILENCE: Speech = { log: ProgramLog.initial, waits: [] }

/** Opens the watch. The scope owns it and the fiber that reads it. */
export const open = Effect.fnUntraced(function* (
  options: StackWatchOptions
): Effect.fn.Return<StackWatch, EnvironmentError, EnvironmentService | Scope.Scope> {
  const environment = yield* EnvironmentService
  const speeches = yield* Ref.make<ReadonlyMap<string, Speech>>(new Map())
  const processes = yield* SubscriptionRef.make(ProcessTable.initial)
  const bytesHandled = yield* SubscriptionRef.make<ReadonlyMap<string, number>>(new Map())
  const ended = yield* Deferred.make<never, EnvironmentError>()

  const onBytes = Effect.fnUntraced(function* (file: string, bytes: Uint8Array) {
    const source = ProgramLog.parseFile(file)
    if (source === undefined) return
    const lines = yield* Ref.modify(speeches, (all) => {
      const speech = all.get(source.name) ?? SILENCE
      const [log, lines] = ProgramLog.feed(speech.log, source.stream, bytes)
      return [lines, new Map([...all, [source.name, { ...speech, log }]])]
    })
    for (const line of lines) {
      yield* answer(source.name, line.text)
      yield* options.onLine(source.name, line)
    }
  })

  const answer = Effect.fnUntraced(function* (name: string, text: string) {
    for (const { found, pattern } of (yield* Ref.get(speeches)).get(name)?.waits ?? [])
      if (pattern.test(text)) yield* Deferred.succeed(found, text)
  })

  const onEvent = Effect.fnUntraced(function* (event: WatchEvent) {
    yield* options.onEvent(event)
    switch (event._tag) {
      case "LogBytes":
        yield* onBytes(event.file, event.bytes)
        return yield* SubscriptionRef.update(
          bytesHandled,
          (all) => new Map([...all, [event.file, event.offset + event.bytes.length]])
        )
      case "ProcessSeen":
      case "ProcessDied":
        yield* SubscriptionRef.update(processes, (table) => ProcessTable.reported(table, event))
        return event._tag === "ProcessDied" ? yield* options.onDeath(event.name, event.pid) : undefined
      case "RoundCompleted":
        return
    }
  })

  const events = yield* environment.watch(options.directory)
  yield* Stream.runForEach(events, onEvent).pipe(
    Effect.andThen(Effect.fail(watchEnded(environment.facts.name))),
    // A defect, too: nobody may wait for a watch that nobody reads.
    Effect.onError((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.void : Deferred.failCause(ended, cause))),
    Effect.ignoreCause,
    Effect.forkScoped
  )

  const orLost = <A>(wait: Effect.Effect<A>): Effect.Effect<A, EnvironmentError> =>
    Effect.raceFirst(wait, Deferred.await(ended))
  const sightingWhere = (name: string, pid: number, holds: (sighting: ProcessTable.Sighting) => boolean) =>
    orLost(
      first(SubscriptionRef.changes(processes), (table) => {
        const sighting = ProcessTable.find(table, name, pid)
        return sighting !== undefined && holds(sighting) ? Option.some(sighting) : Option.none()
      })
    )

  return {
    reset: (name) => Ref.update(speeches, (all) => new Map([...all, [name, SILENCE]])),
    sighting: (name, pid) => sightingWhere(name, pid, () => true),
    gone: (name, pid) => Effect.asVoid(sightingWhere(name, pid, ({ alive }) => !alive)),
    find: (name, pid) => Effect.map(SubscriptionRef.get(processes), (table) => ProcessTable.find(table, name, pid)),
    awaitLine: Effect.fnUntraced(function* (name, pattern) {
      const found = yield* Deferred.make<string>()
      yield* Ref.update(speeches, (all) => {
        const speech = all.get(name) ?? SILENCE
        return new Map([...all, [name, { ...speech, waits: [...speech.waits, { pattern, found }] }]])
      })
      for (const text of (yield* Ref.get(speeches)).get(name)?.log.tail ?? [])
        if (pattern.test(text)) yield* Deferred.succeed(found, text)
      return yield* orLost(Deferred.await(found))
    }),
    lastLines: (name) => Effect.map(Ref.get(speeches), (all) => ProgramLog.lastLines((all.get(name) ?? SILENCE).log)),
    handled: (sizes) =>
      orLost(
        first(SubscriptionRef.changes(bytesHandled), (all) =>
          [...sizes].every(([file, size]) => (all.get(file) ?? 0) >= size) ? Option.some(undefined) : Option.none()
        )
      ),
    lost: Deferred.await(ended)
  }
})

/** The first value for which `choose` gives something. */
export const first = <A, B>(values: Stream.Stream<A>, choose: (value: A) => Option.Option<B>): Effect.Effect<B> =>
  values.pipe(
    Stream.map(choose),
    Stream.filter(Option.isSome),
    Stream.runHead,
    // The values of a reference end with the program, so there always is a first one or a wait.
    Effect.flatMap((found) => (Option.isSome(found) ? Effect.succeed(found.value.value) : Effect.never))
  )

const watchEnded = (environment: string) =>
  new EnvironmentError({
    operation: "EnvironmentService.watch",
    reason: new EnvironmentLost({ environment, detail: "its watch ended", exitCode: undefined })
  })
