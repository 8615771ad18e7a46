/**
 * Reads an agent's log from bytes as they come, in pieces of any size, into lines that know which record they belong to.
 * Pure: `feed` returns the next state and what is complete. A line is returned as soon as its newline has arrived, so that
 * nothing waits for the record after it.
 *
 * A record may hold text that somebody else wrote (a model, a provider), printed raw, newlines included. A line of such text
 * can look like a record. It is taken for one only if its timestamp has the form of the record it stands in and lies neither
 * before it nor implausibly long after. So no quotation of documentation, of other logs or of this log's past is mistaken.
 * What this cannot tell apart: a line with the right format and the time of the near future, made on purpose. Nor is it meant
 * to: an agent that wants to deceive can write to the log file itself.
 */
import { concatBytes } from "./internal/concatBytes.ts"
import type { LogLevel, LogLine, LogRecord } from "./LogRecord.ts"

/** Bytes of a line that are kept; the rest of a longer line is dropped. Signals are far shorter, a tool's output is not. */
export const MAX_LINE_BYTES = 65_536

/** Threads stamp a line before they queue up to write it, so neighbours may stand in the wrong order by this much. */
export const REORDERING_MILLIS = 250

/** A log that is silent for longer is not one of a trial: the longest turn an agent accepts is seven days. */
export const LONGEST_SILENCE_MILLIS = 8 * 24 * 60 * 60 * 1000

/** Where in a log the reader is. */
export interface AgentLog {
  /** Bytes of the line that has no newline yet, at most `MAX_LINE_BYTES`. */
  readonly pending: Uint8Array
  /** The record that further lines belong to. */
  readonly current: LogRecord | undefined
}

/** The beginning of a log. */
export const initial: AgentLog = { pending: new Uint8Array(0), current: undefined }

/** Takes the next bytes and returns the lines they complete. How a log is cut into pieces makes no difference. */
export const feed = (log: AgentLog, bytes: Uint8Array): readonly [AgentLog, ReadonlyArray<LogLine>] => {
  const end = bytes.lastIndexOf(NEWLINE)
  if (end === -1) return [{ current: log.current, pending: join(log.pending, bytes) }, []]
  const first = bytes.indexOf(NEWLINE)
  const [current, lines] = readAll(log.current, [
    ...texts(join(log.pending, bytes.subarray(0, first))),
    ...(first === end ? [] : texts(bytes.subarray(first + 1, end)))
  ])
  return [{ current, pending: join(initial.pending, bytes.subarray(end + 1)) }, lines]
}

/** Takes the end of the log: a last line without a newline counts as complete. */
export const flush = (log: AgentLog): readonly [AgentLog, ReadonlyArray<LogLine>] => {
  const [current, lines] = readAll(log.current, log.pending.length === 0 ? [] : texts(log.pending))
  return [{ current, pending: initial.pending }, lines]
}

/** A whole log at once. */
export const parse = (bytes: Uint8Array): ReadonlyArray<LogLine> => {
  const [log, lines] = feed(initial, bytes)
  return [...lines, ...flush(log)[1]]
}

const NEWLINE = 10
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
const ESCAPE = String.fromCodePoint(27)

/** The sequences in which terminals take colours and movements, begun by ESC. */
const ANSI = new RegExp(`${ESCAPE}\\[[0-?]*[ -/]*[@-~]`, "g")

const RECORD =
  /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))\s+(ERROR|WARN|INFO|DEBUG|TRACE)\s+([A-Za-z_:0-9]+): (.*)$/s

/** A line and more of it, cut to `MAX_LINE_BYTES`. */
const join = (head: Uint8Array, tail: Uint8Array): Uint8Array => {
  const more = tail.subarray(0, MAX_LINE_BYTES - head.length)
  return more.length === 0 ? head : concatBytes([head, more])
}

/** The lines of bytes whose last newline is cut off. No character of UTF-8 has a newline inside, so one decoding will do. */
const texts = (bytes: Uint8Array): ReadonlyArray<string> => decoder.decode(withinLimit(bytes)).split("\n")

/** The same lines, each cut to `MAX_LINE_BYTES`; almost always the very same bytes. */
const withinLimit = (bytes: Uint8Array): Uint8Array => {
  const kept: Array<Uint8Array> = []
  let copied = 0
  for (let start = 0; bytes.length - start > MAX_LINE_BYTES;) {
    const end = bytes.indexOf(NEWLINE, start)
    const next = end === -1 ? bytes.length : end
    if (next - start > MAX_LINE_BYTES) {
      kept.push(bytes.subarray(copied, start + MAX_LINE_BYTES))
      copied = next
    }
    start = next + 1
  }
  return kept.length === 0 ? bytes : concatBytes([...kept, bytes.subarray(copied)])
}

const readAll = (
  before: LogRecord | undefined,
  texts: ReadonlyArray<string>
): readonly [LogRecord | undefined, ReadonlyArray<LogLine>] => {
  let current = before
  const lines = texts.map((text) => {
    const line = read(text, current)
    if (line._tag === "Record") current = line
    return line
  })
  return [current, lines]
}

const read = (printed: string, current: LogRecord | undefined): LogLine => {
  const line = printed.endsWith("\r") ? printed.slice(0, -1) : printed
  const text = line.includes(ESCAPE) ? line.replace(ANSI, "") : line
  const record = readRecord(text)
  if (record !== undefined && (current === undefined || mayFollow(current, record))) return record
  return current === undefined ? { _tag: "Unstructured", text } : { _tag: "Continuation", of: current, text }
}

const readRecord = (text: string): LogRecord | undefined => {
  const [, timestamp, level, target, message] = RECORD.exec(text) ?? []
  if (timestamp === undefined || target === undefined || message === undefined) return undefined
  return { _tag: "Record", timestamp, level: level as LogLevel, target, message, text }
}

/** Whether what looks like a record is one, or text of the record before it. */
const mayFollow = (current: LogRecord, next: LogRecord): boolean => {
  if (!holdsForeignText(current)) return true
  if (!isSameForm(current.timestamp, next.timestamp)) return false
  const elapsed = Date.parse(next.timestamp) - Date.parse(current.timestamp)
  return elapsed >= -REORDERING_MILLIS && elapsed <= LONGEST_SILENCE_MILLIS
}

/** `acp::stream` and its neighbours print what an agent says, warnings and errors what a provider or a program said. */
const holdsForeignText = (record: LogRecord): boolean =>
  record.target.startsWith("acp::") || record.level === "ERROR" || record.level === "WARN"

/** As many digits of a second, and a zone of the same kind. */
const isSameForm = (a: string, b: string): boolean =>
  a.length === b.length && a.indexOf(".") === b.indexOf(".") && a.endsWith("Z") === b.endsWith("Z")
