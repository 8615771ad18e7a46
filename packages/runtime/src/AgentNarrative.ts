/**
 * What an agent did, turn by turn, as its logs tell it: what it said, which tools it called, what it used. Pure: bytes come in
 * pieces of any size. What is kept is bounded, whatever a log holds.
 */
import * as AgentLog from "./AgentLog.ts"
import { type AgentSignal, classify, type TurnStop } from "./AgentSignal.ts"
import type { LogLine } from "./LogRecord.ts"
import * as Usage from "./Usage.ts"

/** Characters of what an agent said that are kept of one turn. */
export const TURN_CHARACTERS = 65_536

/** Characters that are kept of all turns of one agent. */
export const AGENT_CHARACTERS = 4_194_304

/** Calls of tools that are kept of one turn. */
export const TURN_CALLS = 1000

/** One turn. */
export interface NarratedTurn {
  /** RFC 3339 as printed; `undefined` of a turn whose start its build does not log. */
  readonly startedAt: string | undefined
  /** How it ended, in the words of the log; `undefined` when it did not. */
  readonly end: string | undefined
  /** Ids of the messages that it was given. */
  readonly delivered: ReadonlyArray<string>
  readonly said: string
  /** Titles of the tools that it called. */
  readonly calls: ReadonlyArray<string>
  /** Characters and calls beyond what is kept. */
  readonly dropped: { readonly characters: number; readonly calls: number }
  /** Reports of all sessions up to the end of this turn; what comes after an end still belongs to it. */
  readonly usage: Usage.Usage
}

/** What is known of an agent so far. */
export interface AgentNarrative {
  /** Turns before the last one. */
  readonly past: ReadonlyArray<NarratedTurn>
  /** The last one, over or not. */
  readonly last: NarratedTurn | undefined
  /** Characters kept of all turns. */
  readonly characters: number
  /** Whether the next text continues the last one, or something lay between them. */
  readonly isSpeaking: boolean
  /** Whether its build logs the start of a turn. */
  readonly logsStarts: boolean
}

/** Nothing was read yet. */
export const initial: AgentNarrative = {
  past: [],
  last: undefined,
  characters: 0,
  isSpeaking: false,
  logsStarts: false
}

/** Every turn, oldest first. */
export const turnsOf = ({ last, past }: AgentNarrative): ReadonlyArray<NarratedTurn> =>
  last === undefined ? past : [...past, last]

const NOTHING: NarratedTurn = {
  startedAt: undefined,
  end: undefined,
  delivered: [],
  said: "",
  calls: [],
  dropped: { characters: 0, calls: 0 },
  usage: Usage.initial
}

/** After the next line of a log. */
export const tell = (narrative: AgentNarrative, line: LogLine): AgentNarrative => {
  const text = spoken(line)
  if (text !== undefined) return say(narrative, text, line._tag === "Continuation")
  const signal = classify(line)
  return signal === undefined ? narrative : heard({ ...narrative, isSpeaking: false }, signal, line)
}

/** Every line of some logs, one log after the other. */
export const tellAll = (narrative: AgentNarrative, lines: ReadonlyArray<LogLine>): AgentNarrative =>
  lines.reduce(tell, narrative)

/** A narrative of bytes: `log` is where the reader is. */
export const feed = (
  [narrative, log]: readonly [AgentNarrative, AgentLog.AgentLog],
  bytes: Uint8Array
): readonly [AgentNarrative, AgentLog.AgentLog] => {
  const [next, lines] = AgentLog.feed(log, bytes)
  return [tellAll(narrative, lines), next]
}

/** At the end of a log. */
export const finish = ([narrative, log]: readonly [AgentNarrative, AgentLog.AgentLog]): AgentNarrative =>
  tellAll(narrative, AgentLog.flush(log)[1])

const STREAM = "acp::stream"

const spoken = (line: LogLine): string | undefined => {
  if (line._tag === "Record") return line.target === STREAM ? line.message : undefined
  return line._tag === "Continuation" && line.of.target === STREAM ? `\n${line.text}` : undefined
}

const say = (narrative: AgentNarrative, text: string, isContinued: boolean): AgentNarrative => {
  const { characters, isSpeaking } = narrative
  const open = opened(narrative)
  const { dropped, said } = open.last
  const between = said === "" || isSpeaking || isContinued ? "" : "\n"
  const whole = between + text
  const kept = whole.slice(0, Math.max(0, Math.min(TURN_CHARACTERS - said.length, AGENT_CHARACTERS - characters)))
  const last: NarratedTurn = {
    ...open.last,
    said: said + kept,
    dropped: { ...dropped, characters: dropped.characters + whole.length - kept.length }
  }
  return { ...open, last, characters: characters + kept.length, isSpeaking: true }
}

const heard = (narrative: AgentNarrative, signal: AgentSignal, line: LogLine): AgentNarrative => {
  switch (signal._tag) {
    case "TurnStarted":
      return begun({ ...narrative, logsStarts: true }, line._tag === "Record" ? line.timestamp : undefined)
    case "TurnEnded":
      return change(opened(narrative), { end: signal.stop })
    case "TurnFailed":
      // Later words about the same failure are no new turn.
      return hasFailed(narrative.last) ? narrative : change(opened(narrative), { end: signal.detail })
    case "Delivered":
      return delivered(narrative, signal.eventIds)
    case "SteerAcked":
      return signal.delivered ? delivered(narrative, [signal.eventId]) : narrative
    case "Usage": {
      const open = narrative.last === undefined ? opened(narrative) : narrative
      return change(open, { usage: Usage.record(open.last?.usage ?? Usage.initial, signal) })
    }
    case "ToolCalled":
      return called(opened(narrative), signal.title)
    default:
      return narrative
  }
}

const STOPS: ReadonlySet<string> = new Set<TurnStop>([
  "end_turn",
  "max_tokens",
  "max_turn_requests",
  "refused",
  "cancelled"
])

const hasFailed = (turn: NarratedTurn | undefined): boolean => turn?.end !== undefined && !STOPS.has(turn.end)

/** With a turn that further news belong to: a build that logs no starts begins one with what comes after an end. */
const opened = (narrative: AgentNarrative): AgentNarrative & { readonly last: NarratedTurn } => {
  const { last, logsStarts } = narrative
  if (last === undefined || (last.end !== undefined && !logsStarts)) return begun(narrative, undefined)
  return { ...narrative, last }
}

const begun = ({ last, ...narrative }: AgentNarrative, startedAt: string | undefined) => ({
  ...narrative,
  past: last === undefined ? narrative.past : [...narrative.past, last],
  last: { ...NOTHING, startedAt, usage: last?.usage ?? Usage.initial }
})

const change = (narrative: AgentNarrative, news: Partial<NarratedTurn>): AgentNarrative =>
  narrative.last === undefined ? narrative : { ...narrative, last: { ...narrative.last, ...news } }

/** Said after the end of the turn that was given them, or in the turn itself. */
const delivered = (narrative: AgentNarrative, ids: ReadonlyArray<string>): AgentNarrative =>
  change(narrative, { delivered: [...(narrative.last?.delivered ?? []), ...ids] })

const called = (narrative: AgentNarrative & { readonly last: NarratedTurn }, title: string): AgentNarrative => {
  const { calls, dropped } = narrative.last
  return calls.length < TURN_CALLS
    ? change(narrative, { calls: [...calls, title] })
    : change(narrative, { dropped: { ...dropped, calls: dropped.calls + 1 } })
}
