/**
 * Log lines as agents print them, for tests.
 */
import * as AgentLog from "@buzz-orchestra/runtime/AgentLog"
import type { LogLevel, LogLine } from "@buzz-orchestra/runtime/LogRecord"

/** The channel of the tests. */
export const CHANNEL = "99999999-8888-4777-8666-555555555555"

/** When the tests' logs begin. */
export const START = Date.UTC(2026, 5, 15, 12)

/** RFC 3339 with microseconds, `millis` after `START`. */
export const timestamp = (millis: number): string => `${new Date(START + millis).toISOString().slice(0, -1)}456Z`

/** One line without its newline; the message may hold some. */
export const line = (target: string, message: string, options: { level?: LogLevel; millis?: number } = {}): string =>
  `${timestamp(options.millis ?? 0)} ${(options.level ?? "INFO").padStart(5)} ${target}: ${message}`

/** The same as `buzz-acp` prints it without `NO_COLOR`. */
export const coloured = (target: string, message: string): string =>
  `${dim(timestamp(0))} \u001B[32m INFO\u001B[0m ${dim(target)}${dim(":")} ${message}`

/** A log of these lines. */
export const read = (...lines: ReadonlyArray<string>): ReadonlyArray<LogLine> =>
  AgentLog.parse(new TextEncoder().encode(lines.map((text) => `${text}\n`).join("")))

const dim = (text: string): string => `\u001B[2m${text}\u001B[0m`
