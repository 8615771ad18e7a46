/**
 * One record of an agent's log, as `tracing-subscriber` prints it. The parser is `AgentLog`.
 */

export type LogLevel = "ERROR" | "WARN" | "INFO" | "DEBUG" | "TRACE"

export interface LogRecord {
  /** RFC 3339 as printed. */
  readonly timestamp: string
  readonly level: LogLevel
  /** Such as `pool::prompt`. Markers count only under the target that writes them: model text can quote any marker. */
  readonly target: string
  /** Message and fields without ANSI sequences; continuation lines follow after `\n`. */
  readonly message: string
}
