/**
 * What the packages log, one line each on stderr. Effect's own logger prints to stdout, which belongs to what a command prints;
 * with `--json` a program reads it.
 */
import { Cause, Effect, type Layer, Logger, type LogLevel } from "effect"
import { oneLine } from "./internal/terminalText.ts"
import { Output } from "./Output.ts"

/** What stands before a line; what is neither trouble nor a warning needs nothing. */
const PREFIXES: Partial<Record<LogLevel.LogLevel, string>> = { Fatal: "error: ", Error: "error: ", Warn: "warning: " }

/** One line without its line feed: the message, and in few words what caused it. */
export const logLine = ({
  cause,
  logLevel,
  message
}: Pick<Logger.Options<unknown>, "cause" | "logLevel" | "message">): string => {
  const messages: ReadonlyArray<unknown> = Array.isArray(message) ? message : [message]
  const parts = cause.reasons.length === 0 ? messages : [...messages, Cause.squash(cause)]
  return `${PREFIXES[logLevel] ?? ""}${oneLine(parts.map(words).join(": "))}`
}

const words = (part: unknown): string => (part instanceof Error ? part.message : String(part))

/** Logs to the `Output`'s stderr. `scrub` takes known secrets out of a line. */
export const layer = (scrub: (line: string) => string = (line) => line): Layer.Layer<never, never, Output> =>
  Logger.layer([
    Effect.map(Output, (output) =>
      Logger.make((options) => {
        Effect.runFork(output.writeError(`${scrub(logLine(options))}\n`))
      })
    )
  ])
