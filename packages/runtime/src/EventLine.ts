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

/** The line for anything that has a name and a time, in milliseconds since the epoch. */
export const objectLine = (event: string, at: number, fields: object): string =>
  JSON.stringify({ event, at: new Date(at).toISOString(), ...fields }, (_key, value: unknown) => value ?? null)
