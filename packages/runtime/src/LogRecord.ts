/**
 * One line of an agent's log, as `tracing-subscriber` prints it, without ANSI sequences. The parser is `AgentLog`.
 */

/** From the most to the least severe. */
export type LogLevel = "ERROR" | "WARN" | "INFO" | "DEBUG" | "TRACE"

/** A line that begins a record: `<timestamp> <LEVEL> <target>: <message and fields>`. */
export interface LogRecord {
  readonly _tag: "Record"
  /** RFC 3339 as printed. */
  readonly timestamp: string
  readonly level: LogLevel
  /** Such as `pool::prompt`. Markers count only under the target that writes them: model text can quote any marker. */
  readonly target: string
  /** Message and fields of the first line. */
  readonly message: string
  /** The whole line as printed. */
  readonly text: string
}

/** A further line of a record whose message has several. */
export interface LogContinuation {
  readonly _tag: "Continuation"
  /** The record it belongs to. */
  readonly of: LogRecord
  /** The whole line as printed. */
  readonly text: string
}

/** A line that stands before any record: a usage text, a panic, the words of a program that logs otherwise. */
export interface UnstructuredLine {
  readonly _tag: "Unstructured"
  /** The whole line as printed. */
  readonly text: string
}

/** One line of a log. Only a `Record` can be a signal. */
export type LogLine = LogRecord | LogContinuation | UnstructuredLine
