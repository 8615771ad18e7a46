/**
 * Facts that several reasons carry: the deadline that fired, and what an agent said last.
 */
import { Schema } from "effect"

/** How many lines of a log an error keeps. */
export const LAST_LINES = 20

/** The end of a log, oldest line first, at most `LAST_LINES`, redacted. */
export const LastLines = Schema.Array(Schema.String)

/** A deadline that fired: what it was set to, and how long it was in the end. */
export const FiredDeadline = Schema.Struct({
  configuredMillis: Schema.Finite,
  elapsedMillis: Schema.Finite
})

/** A deadline that fired. */
export type FiredDeadline = typeof FiredDeadline.Type

/** Such as `60 s` or `1.5 s`; `60 s (61.2 s went by)` when the real time differs by more than a tenth of a second. */
export const describeDeadline = (deadline: FiredDeadline): string => {
  const late = Math.abs(deadline.elapsedMillis - deadline.configuredMillis) > 100
  const configured = seconds(deadline.configuredMillis)
  return late ? `${configured} (${seconds(deadline.elapsedMillis)} went by)` : configured
}

/** The last line that says anything, in quotation marks; `nothing` for an empty log. */
export const lastWords = (lines: ReadonlyArray<string>): string => {
  const line = lines.findLast((line) => line.trim() !== "")
  return line === undefined ? "nothing" : `"${line.trim()}"`
}

const seconds = (millis: number): string => `${Math.round(millis / 100) / 10} s`
