/**
 * The two logs of one program, read as they grow: which lines are complete, and what was said last. Pure.
 */
import * as AgentLog from "../AgentLog.ts"
import type { LogLine } from "../LogRecord.ts"
import { LAST_LINES } from "../reasons/Circumstances.ts"

/** Which of a program's logs. */
export type LogStream = "stdout" | "stderr"

export interface ProgramLog {
  readonly stdout: AgentLog.AgentLog
  readonly stderr: AgentLog.AgentLog
  /** The newest complete lines of both, oldest first. */
  readonly tail: ReadonlyArray<string>
}

export const initial: ProgramLog = { stdout: AgentLog.initial, stderr: AgentLog.initial, tail: [] }

/** Takes the next bytes of one log. */
export const feed = (
  log: ProgramLog,
  stream: LogStream,
  bytes: Uint8Array
): readonly [ProgramLog, ReadonlyArray<LogLine>] => {
  const [next, lines] = AgentLog.feed(log[stream], bytes)
  const tail = lines.length === 0 ? log.tail : [...log.tail, ...lines.slice(-LAST_LINES).map(({ text }) => text)]
  return [{ ...log, [stream]: next, tail: tail.slice(-LAST_LINES) }, lines]
}

/** The last words, a line without its newline included: a program that dies may not get to print it. */
export const lastLines = (log: ProgramLog): ReadonlyArray<string> => {
  const unfinished = (["stdout", "stderr"] as const).flatMap((stream) =>
    AgentLog.flush(log[stream])[1].map(({ text }) => text)
  )
  return [...log.tail, ...unfinished].slice(-LAST_LINES)
}

/** What a log's file name says: `<name>.stdout.log`. `undefined` for any other file. */
export const parseFile = (file: string): { readonly name: string; readonly stream: LogStream } | undefined => {
  const [, name, stream] = /^(.+)\.(stdout|stderr)\.log$/.exec(file) ?? []
  return name === undefined || stream === undefined ? undefined : { name, stream: stream as LogStream }
}
