/**
 * Log lines as Rust's `tracing-subscriber` prints them in its default format, which is what launchers parse. Pure.
 */

/** From the most to the least severe. */
export const LEVELS = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"] as const
export type Level = (typeof LEVELS)[number]

/** One thing that happened. */
export interface LogRecord {
  /** Nanoseconds since the epoch; printed with microseconds. */
  readonly nanos: bigint
  readonly level: Level
  /** Module path of the real program, such as `pool::prompt`. */
  readonly target: string
  /** May hold newlines, as model text does; continuation lines are printed as they are. */
  readonly message: string
  /** Printed after the message as ` key=value`, in this order. Values stand as given: quote what Rust would print with `?`. */
  readonly fields?: Readonly<Record<string, string | number>>
}

/** The line without its newline: `<rfc3339>  INFO target: message key=value`, levels right-aligned to five columns. */
export const format = (record: LogRecord, options: { readonly ansi: boolean }): string => {
  const time = timestamp(record.nanos)
  const level = record.level.padStart(5)
  const fields = Object.entries(record.fields ?? {})
  if (!options.ansi)
    return [
      `${time} ${level} ${record.target}: ${record.message}`,
      ...fields.map(([key, value]) => `${key}=${value}`)
    ].join(" ")
  const head = `${DIM}${time}${RESET} ${COLOURS[record.level]}${level}${RESET} ${DIM}${record.target}${RESET}${DIM}:${RESET}`
  return [
    `${head} ${record.message}`,
    ...fields.map(([key, value]) => `${ITALIC}${key}${RESET}${DIM}=${RESET}${value}`)
  ].join(" ")
}

const timestamp = (nanos: bigint): string => {
  const millis = Number(nanos / 1_000_000n)
  const micros = String((nanos / 1000n) % 1000n).padStart(3, "0")
  return `${new Date(millis).toISOString().slice(0, -1)}${micros}Z`
}

const RESET = "\u001B[0m"
const DIM = "\u001B[2m"
const ITALIC = "\u001B[3m"
const COLOURS: Readonly<Record<Level, string>> = {
  ERROR: "\u001B[31m",
  WARN: "\u001B[33m",
  INFO: "\u001B[32m",
  DEBUG: "\u001B[34m",
  TRACE: "\u001B[35m"
}
