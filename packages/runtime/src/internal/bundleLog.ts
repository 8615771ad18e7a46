/**
 * `events.ndjson`, `trial.log` and the log of each phase: what happens in a trial, written as it happens. Telling never waits; one
 * fiber writes what was told since it last wrote.
 */
import { Cause, Effect, Fiber, Queue, Ref, Stream } from "effect"
import { EVENTS, phaseLog, TRIAL_LOG } from "../BundleFiles.ts"
import { eventLine } from "../EventLine.ts"
import type { TrialDirectory } from "../TrialDirectory.ts"
import type { Phase, TrialEvent } from "../TrialEvent.ts"
import { sentence } from "./bounded.ts"
import { eventText } from "./eventText.ts"
import { mayHaveSecrets, scrubbed } from "./scrubbed.ts"

/** What was told, and when: `elapsed` is in seconds of the monotonic clock. */
interface Told {
  readonly event: TrialEvent
  readonly elapsed: number
}

export interface BundleLog {
  /** Never waits. */
  add(event: TrialEvent, elapsed: number): Effect.Effect<void>
  /** Takes secrets out of all that is written from now on. */
  redactWith(redact: (text: string) => string): Effect.Effect<void>
  /** Begins to write, what was told before included. What the disk does is a warning, once for each file. */
  writeTo(directory: TrialDirectory, warn: (detail: string) => Effect.Effect<void>): Effect.Effect<void>
  /** Returns when all that was told is written; nothing is written after that. An interruption leaves the disk to itself. */
  readonly close: Effect.Effect<void>
}

export const make = Effect.gen(function* () {
  const told = yield* Queue.unbounded<Told, Cause.Done>()
  const redact = yield* Ref.make((text: string) => text)
  const writer = yield* Ref.make<Fiber.Fiber<void> | undefined>(undefined)

  const writeTo: BundleLog["writeTo"] = Effect.fnUntraced(function* (directory, warn) {
    const failed = new Set<string>()
    const begun = new Set<string>()
    const open = new Set<Phase>()
    const append = (file: string, text: string) =>
      failed.has(file)
        ? Effect.void
        : Effect.catchCause(directory.append(file, text, { anew: !begun.has(file) }), (cause) => {
            if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
            failed.add(file)
            return warn(`${file} is not written any further: ${sentence(cause)}`)
          })
    const write = Effect.fnUntraced(function* (batch: ReadonlyArray<Told>) {
      const scrub = yield* Ref.get(redact)
      const texts = new Map<string, string>()
      const put = (file: string, text: string) => texts.set(file, `${texts.get(file) ?? ""}${text}\n`)
      for (const { elapsed, event } of batch) {
        const json = eventLine(event, elapsed)
        const clean = mayHaveSecrets(json, scrub) ? scrubbed(event, scrub) : event
        put(EVENTS, clean === event ? json : eventLine(clean, elapsed))
        if (event._tag === "PhaseStarted") open.add(event.phase)
        const text = eventText(clean)
        if (text === undefined) continue
        const line = `${new Date(event.at).toISOString()} +${elapsed.toFixed(3)} ${text}`
        put(TRIAL_LOG, line)
        for (const phase of open) put(phaseLog(phase), line)
        if (event._tag === "PhaseEnded") open.delete(event.phase)
      }
      for (const [file, text] of texts) {
        yield* append(file, text)
        begun.add(file)
      }
    })
    const fiber = yield* Effect.forkDetach(Stream.runForEachArray(Stream.fromQueue(told), write))
    yield* Ref.set(writer, fiber)
  })

  const log: BundleLog = {
    add: (event, elapsed) => Effect.asVoid(Queue.offer(told, { event, elapsed })),
    redactWith: (next) => Ref.set(redact, next),
    writeTo,
    close: Effect.gen(function* () {
      yield* Queue.end(told)
      const fiber = yield* Ref.get(writer)
      if (fiber === undefined) return
      yield* Effect.onInterrupt(Fiber.await(fiber), () => Effect.sync(() => fiber.interruptUnsafe()))
    })
  }
  return log
})
