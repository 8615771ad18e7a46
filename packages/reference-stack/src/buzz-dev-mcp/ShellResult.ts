/**
 * What the `shell` tool answers: JSON with the fields of the real tool, in its order. Pure.
 */
import * as OutputLimit from "./OutputLimit.ts"

/** How a command ended. */
export type ShellEnd =
  | { readonly _tag: "Exited"; readonly code: number }
  | { readonly _tag: "Signalled" }
  | { readonly _tag: "TimedOut"; readonly afterMillis: number }

/** One captured stream and the file with its whole text, when it was too long to show. */
export interface ShellStream {
  readonly captured: OutputLimit.Captured
  readonly artifact: string | undefined
}

/** The result's text. A command that failed is a successful call: the model reads `exit_code`. */
export const render = (result: {
  readonly end: ShellEnd
  readonly durationMillis: number
  readonly stdout: ShellStream
  readonly stderr: ShellStream
}): string =>
  JSON.stringify(
    {
      duration_ms: result.durationMillis,
      exit_code: exitCode(result.end),
      notes: notes(result.end),
      stderr: OutputLimit.shown(result.stderr.captured, result.stderr.artifact),
      stderr_artifact: result.stderr.artifact ?? null,
      stderr_truncated: OutputLimit.isTruncated(result.stderr.captured),
      stdout: OutputLimit.shown(result.stdout.captured, result.stdout.artifact),
      stdout_artifact: result.stdout.artifact ?? null,
      stdout_truncated: OutputLimit.isTruncated(result.stdout.captured),
      timed_out: result.end._tag === "TimedOut"
    },
    undefined,
    2
  )

/** 124 after a time limit, as `timeout` has it; -1 for a signal. */
const exitCode = (end: ShellEnd): number => {
  switch (end._tag) {
    case "Exited":
      return end.code
    case "Signalled":
      return -1
    case "TimedOut":
      return 124
  }
}

const notes = (end: ShellEnd): ReadonlyArray<string> =>
  end._tag === "TimedOut" ? [`command timed out after ${end.afterMillis} ms and was ended`] : []
