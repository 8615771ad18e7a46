/**
 * What `--json` prints as NDJSON: the events of a trial as `EventLine` writes them, and what commands add in the same form. Pure.
 */
import { objectLine } from "@buzz-orchestra/runtime/EventLine"
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

/** The line for one finding of `doctor`. */
export const checkedLine = (at: number, { detail, next, status, topic }: Finding): string =>
  objectLine("Checked", at, { topic, status, detail, next })

/** The line for one thing that `reap` met. */
export const reapedLine = (at: number, event: string, fields: object): string => objectLine(event, at, fields)

/** The line that ends the output. `at` is in milliseconds since the epoch. */
export const exitedLine = (at: number, exited: Exited): string => objectLine("Exited", at, exited)
