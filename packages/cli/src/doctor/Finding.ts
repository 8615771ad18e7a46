/**
 * What an examination of this machine found, and what it says together. Pure.
 */
import { padEnd } from "../internal/terminalText.ts"
import type { Style } from "../Style.ts"

/** `warn`: it works, but not for everything. `missing`: it does not work. */
export type FindingStatus = "ok" | "warn" | "missing"

/** One thing that was looked at. */
export interface Finding {
  /** What was looked at, in a word, such as `sandbox`. */
  readonly topic: string
  readonly status: FindingStatus
  /** What is there, in half a sentence. */
  readonly detail: string
  /** What to do about it; absent where nothing is to be done. */
  readonly next?: string
  /** Whether a trial can run in what was looked at, unless it is missing. */
  readonly isEnvironment?: true
}

/** Whether there is any place on this machine where a trial can run. */
export const canRunTrials = (findings: ReadonlyArray<Finding>): boolean =>
  findings.some(({ isEnvironment, status }) => isEnvironment === true && status !== "missing")

const TOPIC_COLUMNS = 9
const STATUS_COLUMNS = 7

/** The lines of one finding; the first holds all but what to do. */
export const findingLines = (finding: Finding, style: Style): ReadonlyArray<string> => {
  const { detail, next, status, topic } = finding
  const paint = { ok: style.good, warn: style.busy, missing: style.bad }[status]
  const indent = " ".repeat(TOPIC_COLUMNS + STATUS_COLUMNS + 2)
  return [
    `${padEnd(topic, TOPIC_COLUMNS)} ${paint(padEnd(status, STATUS_COLUMNS))} ${detail}`,
    ...(next === undefined ? [] : [`${indent}${style.bold("next:")} ${next}`])
  ]
}
