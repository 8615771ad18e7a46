/**
 * The trial's events as NDJSON: one object per line, `event` names its kind, `at` is ISO 8601 in UTC, `runId` and `trialId` name
 * the trial, the other fields are those of `TrialEvent`, but for the signed event of a `MessageSeen`, which stands under
 * `message`. Fields without a value are `null`, never left out. Pure.
 */
import type { TrialEvent } from "@buzz-orchestra/runtime/TrialEvent"
import type { Finding } from "./doctor/Finding.ts"

/** The last line of every `--json` run: the end of the command, and of no trial when none was started. */
export interface Exited {
  readonly exitCode: number
  /** Absent when no trial was started or its launch failed. */
  readonly outcome: string | undefined
  /** The trial directory. */
  readonly directory: string | undefined
  readonly error: { readonly reason: string; readonly message: string; readonly next: string } | undefined
}

/** The line for one event, without its line feed. */
export const eventLine = (event: TrialEvent): string => {
  const { _tag, at, runId, trialId, ...fields } = event
  const own = "event" in fields ? { author: fields.author, message: fields.event } : fields
  return line(_tag, at, { runId, trialId, ...own })
}

/** The line for one finding of `doctor`. */
export const checkedLine = (at: number, { detail, next, status, topic }: Finding): string =>
  line("Checked", at, { topic, status, detail, next })

/** The line for one thing that `reap` met. */
export const reapedLine = (at: number, event: string, fields: object): string => line(event, at, fields)

/** The line that ends the output. `at` is in milliseconds since the epoch. */
export const exitedLine = (at: number, exited: Exited): string => line("Exited", at, exited)

const line = (event: string, at: number, fields: object): string =>
  JSON.stringify({ event, at: new Date(at).toISOString(), ...fields }, (_key, value: unknown) => value ?? null)
