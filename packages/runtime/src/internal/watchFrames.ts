/**
 * From the bytes of a watch process to events. Pure: the same bytes give the same events however they are cut, apart from
 * where `LogBytes` of one file are cut.
 */
import { isDeadState, type WatchEvent } from "../WatchEvent.ts"
import { feedMarked, initialMarked, type MarkedState, type MarkedToken, type Marker } from "./markedFrames.ts"

interface Sighting {
  readonly pid: number
  readonly startTime: string
  readonly dead: boolean
}

export interface WatchState {
  readonly marked: MarkedState
  /** The log whose bytes are arriving; `left` of them are still announced. */
  readonly log: { readonly file: string; readonly offset: number; readonly left: number } | undefined
  /** By name: the process last reported. */
  readonly processes: ReadonlyMap<string, Sighting>
}

export const initialWatch = (marker: Marker): WatchState => ({
  marked: initialMarked(marker),
  log: undefined,
  processes: new Map()
})

/** Takes the next chunk. */
export const feedWatch = (state: WatchState, chunk: Uint8Array): readonly [WatchState, ReadonlyArray<WatchEvent>] => {
  const [marked, tokens] = feedMarked(state.marked, chunk)
  const events: Array<WatchEvent> = []
  let next: WatchState = { ...state, marked }
  for (const token of tokens) {
    const [after, event] = take(next, token)
    next = after
    if (event !== undefined) events.push(event)
  }
  return [next, events]
}

type Step = readonly [WatchState, WatchEvent | undefined]

const take = (state: WatchState, token: MarkedToken): Step => {
  if (token._tag === "Data") return takeBytes(state, token.bytes)
  const [kind, first = "", second = "", third = ""] = token.line.split(" ", 4)
  switch (kind) {
    case "L": {
      const file = restAfter(token.line, 3)
      return [{ ...state, log: { file, offset: Number(first), left: Number(second) } }, undefined]
    }
    case "P":
      return takeProcess({ ...state, log: undefined }, restAfter(token.line, 4), Number(first), second, third)
    case "R":
      return [
        { ...state, log: undefined },
        { _tag: "RoundCompleted", round: Number(first) }
      ]
    default:
      return [state, undefined]
  }
}

/** What follows `count` words and the spaces after them; a name may contain spaces. */
const restAfter = (line: string, count: number): string => {
  let at = 0
  for (let i = 0; i < count; i++) at = line.indexOf(" ", at) + 1
  return line.slice(at)
}

/**
 * Fewer bytes than announced come when a log is truncated meanwhile; more when there is no `head`, and those come again in the
 * next round at their offset.
 */
const takeBytes = (state: WatchState, bytes: Uint8Array): Step => {
  const { log } = state
  if (log === undefined || log.left === 0) return [state, undefined]
  const taken = bytes.subarray(0, log.left)
  return [
    { ...state, log: { ...log, offset: log.offset + taken.length, left: log.left - taken.length } },
    { _tag: "LogBytes", file: log.file, offset: log.offset, bytes: taken }
  ]
}

const GONE = "-"

const takeProcess = (state: WatchState, name: string, pid: number, letter: string, startTime: string): Step => {
  const before = state.processes.get(name)
  const same = before?.pid === pid ? before : undefined
  if (same?.dead === true) return [state, undefined]
  const recycled = same !== undefined && same.startTime !== startTime
  const dead = letter === GONE || isDeadState(letter) || recycled
  const processes = new Map(state.processes).set(name, { pid, startTime, dead })
  return [
    { ...state, processes },
    dead ? { _tag: "ProcessDied", name, pid } : { _tag: "ProcessSeen", name, pid, state: letter, startTime }
  ]
}
