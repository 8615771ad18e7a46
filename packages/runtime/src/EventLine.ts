/**
 * An event of a trial as a line of NDJSON, as `--json` prints it and `events.ndjson` keeps it: `event` names its kind, `at` is ISO
 * 8601 in UTC, `runId` and `trialId` name the trial, the other fields are those of `TrialEvent`, but for the signed event of a
 * `MessageSeen`, which stands under `message`. Fields without a value are `null`, never left out. Pure.
 */
import type { TrialEvent } from "./TrialEvent.ts"

/** The line, without its line feed. `elapsed` is in seconds from the start of the trial, by the monotonic clock. */
export const eventLine = (event: TrialEvent, elapsed?: number): string => {
  const { _tag, at, runId, trialId, ...fields } = event
  const own = "event" in fields ? { author: fields.author, message: fields.event } : fields
  return objectLine(_tag, at, { ...(elapsed === undefined ? {} : { elapsed }), runId, trialId, ...own })
}

/** An event as it was read, and when it happened by the monotonic clock: seconds from the start of the trial. */
export interface ReadEvent {
  readonly event: TrialEvent
  readonly elapsed: number
}

/** Reads a line of `events.ndjson`. Throws when it is none. Fields that were without a value are so again. */
export const parse = (line: string): ReadEvent => {
  const value: unknown = JSON.parse(line, (_key, field: unknown) => (field === null ? undefined : field))
  if (typeof value !== "object" || value === null) throw new Error("it is no object")
  const { at, elapsed, event: tag, message, ...fields } = value as Readonly<Record<string, unknown>>
  const millis = typeof at === "string" ? Date.parse(at) : Number.NaN
  if (typeof tag !== "string" || typeof elapsed !== "number" || Number.isNaN(millis))
    throw new Error("it has no event, at and elapsed")
  const own = tag === "MessageSeen" ? { ...fields, event: message } : fields
  // Whoever wrote the line had an event; whether all of its fields are there is looked at where it matters.
  return { elapsed, event: { _tag: tag, at: millis, ...own } as unknown as TrialEvent }
}

/** The line for anything that has a name and a time, in milliseconds since the epoch. */
export const objectLine = (event: string, at: number, fields: object): string =>
  JSON.stringify({ event, at: new Date(at).toISOString(), ...fields }, (_key, value: unknown) => value ?? null)
