/**
 * The sequences in which terminals take colours, movements and titles: a secret is one also when a colour begins inside it.
 * Pure.
 */
import type { Span } from "./literalSearch.ts"

const ESCAPE = 0x1b
const BELL = 0x07
const LINE_FEED = 0x0a

/** Some bytes without sequences, and where they stood. */
export interface WithoutAnsi {
  readonly bytes: Uint8Array
  /** The span of the original that a span of what is left comes from, with the sequences inside it. */
  origin(span: Span): Span
}

/** The lines in which a sequence stands between two bytes of the alphabet: only there can one part what belongs together. */
export const partedLines = (bytes: Uint8Array, text: string, alphabet: Uint8Array): ReadonlyArray<Span> => {
  const lines: Array<Span> = []
  for (let at = text.indexOf("\u001b"); at !== -1;) {
    const before = bytes[at - 1]
    let after = at
    while (bytes[after] === ESCAPE) after = sequenceEnd(bytes, after)
    if (isOf(alphabet, before) && isOf(alphabet, bytes[after])) {
      const end = bytes.indexOf(LINE_FEED, after)
      const line = { start: bytes.lastIndexOf(LINE_FEED, at) + 1, end: end === -1 ? bytes.length : end }
      lines.push(line)
      after = line.end
    }
    at = text.indexOf("\u001b", after)
  }
  return lines
}

const isOf = (alphabet: Uint8Array, byte: number | undefined): boolean => byte !== undefined && alphabet[byte] === 1

/** What is left of some bytes. */
export const withoutAnsi = (bytes: Uint8Array): WithoutAnsi => {
  const left = new Uint8Array(bytes.length)
  /** Begin of each run that is left, and how many bytes were taken out before it. */
  const starts: Array<number> = [0]
  const removed: Array<number> = [0]
  let length = 0
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at] as number
    if (byte !== ESCAPE) {
      left[length++] = byte
      at++
      continue
    }
    at = sequenceEnd(bytes, at)
    if (starts.at(-1) === length) removed[removed.length - 1] = at - length
    else {
      starts.push(length)
      removed.push(at - length)
    }
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
    while (at < bytes.length && bytes[at] !== BELL && bytes[at] !== ESCAPE && bytes[at] !== LINE_FEED) at++
    if (bytes[at] === BELL) return at + 1
    return bytes[at] === ESCAPE && bytes[at + 1] === 0x5c ? at + 2 : at
  }
  return isIn(kind, 0x20, 0x7e) ? at : start + 1
}

/** Beyond the end nothing is in any range. */
const isIn = (byte: number | undefined, low: number, high: number): boolean =>
  (byte as number) >= low && (byte as number) <= high
