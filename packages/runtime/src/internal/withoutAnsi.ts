/**
 * Bytes without the sequences in which terminals take colours, movements and titles, and where each byte stood: a secret is one
 * also when a colour begins inside it. Pure.
 */
import type { Span } from "./literalSearch.ts"

const ESCAPE = 0x1b
const BELL = 0x07

/** What is left of some bytes. */
export interface WithoutAnsi {
  readonly bytes: Uint8Array
  /** The span of the original that a span of what is left comes from, with the sequences inside it. */
  origin(span: Span): Span
}

/** `undefined` where there is no sequence. */
export const withoutAnsi = (bytes: Uint8Array): WithoutAnsi | undefined => {
  let next = bytes.indexOf(ESCAPE)
  if (next === -1) return undefined
  const left = new Uint8Array(bytes.length)
  /** Begin of each run that is left, and how many bytes were taken out before it. */
  const starts: Array<number> = []
  const removed: Array<number> = []
  let length = 0
  let from = 0
  while (from < bytes.length) {
    const to = next === -1 ? bytes.length : next
    if (to > from) {
      starts.push(length)
      removed.push(from - length)
      left.set(bytes.subarray(from, to), length)
      length += to - from
    }
    if (next === -1) break
    from = sequenceEnd(bytes, next)
    next = bytes.indexOf(ESCAPE, from)
  }
  const before = (index: number): number => removed[runOf(starts, index)] ?? 0
  return {
    bytes: left.subarray(0, length),
    origin: ({ end, start }) => ({ start: start + before(start), end: end + before(end - 1) })
  }
}

/** Number of the last run that begins at or before `index`. */
const runOf = (starts: ReadonlyArray<number>, index: number): number => {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] ?? 0) <= index) low = middle
    else high = middle - 1
  }
  return low
}

/** First byte after the sequence that begins at `start`. One that is not complete ends where it stops making sense. */
const sequenceEnd = (bytes: Uint8Array, start: number): number => {
  const kind = bytes[start + 1]
  let at = start + 2
  if (kind === 0x5b) {
    while (isIn(bytes[at], 0x30, 0x3f)) at++
    while (isIn(bytes[at], 0x20, 0x2f)) at++
    return isIn(bytes[at], 0x40, 0x7e) ? at + 1 : at
  }
  if (kind === 0x5d) {
    while (at < bytes.length && bytes[at] !== BELL && bytes[at] !== ESCAPE && bytes[at] !== 0x0a) at++
    if (bytes[at] === BELL) return at + 1
    return bytes[at] === ESCAPE && bytes[at + 1] === 0x5c ? at + 2 : at
  }
  return isIn(kind, 0x20, 0x7e) ? at : start + 1
}

const isIn = (byte: number | undefined, low: number, high: number): boolean =>
  byte !== undefined && byte >= low && byte <= high
