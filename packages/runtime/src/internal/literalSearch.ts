/**
 * Finds any of many byte strings in one pass, most of which is skipped (the algorithm of Wu and Manber: the last bytes of a
 * window say how far no needle can end). A hundred needles cost hardly more than one. Pure.
 */

/** A place in bytes: `end` is the first byte after it. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Needles prepared for searching. */
export interface LiteralSearch {
  /** Length of the shortest needle; the width of the window. */
  readonly width: number
  readonly longest: number
  /** By hash of a window's last bytes: how far the window can move. */
  readonly shifts: Uint8Array
  /** By hash of a window's last bytes: the needles whose window ends so. */
  readonly buckets: ReadonlyMap<number, ReadonlyArray<Uint8Array>>
}

/** Bytes that the hash looks at. */
const BLOCK = 3
/** A window may be wider than a shift of one byte can say; it moves by less then. */
const MAX_WIDTH = 250

const hash = (a: number, b: number, c: number): number => ((a << 8) ^ (b << 4) ^ c) & 0xffff

/** For needles of at least three bytes. */
export const make = (needles: ReadonlyArray<Uint8Array>): LiteralSearch => {
  const width = Math.min(MAX_WIDTH, ...needles.map(({ length }) => length))
  const shifts = new Uint8Array(0x10000).fill(width - BLOCK + 1)
  const buckets = new Map<number, Array<Uint8Array>>()
  for (const needle of needles) {
    for (let end = BLOCK; end <= width; end++) {
      const block = hash(needle[end - 3] ?? 0, needle[end - 2] ?? 0, needle[end - 1] ?? 0)
      shifts[block] = Math.min(shifts[block] ?? 0, width - end)
      if (end === width) buckets.set(block, [...(buckets.get(block) ?? []), needle])
    }
  }
  return { width, longest: Math.max(0, ...needles.map(({ length }) => length)), shifts, buckets }
}

/** Every occurrence of every needle, overlapping ones included, in the order of their starts. */
export const find = ({ buckets, shifts, width }: LiteralSearch, bytes: Uint8Array): ReadonlyArray<Span> => {
  const found: Array<Span> = []
  if (buckets.size === 0) return found
  for (let last = width - 1; last < bytes.length;) {
    // The places are inside: a fallback for each would take as long as the look.
    const block = hash(bytes[last - 2] as number, bytes[last - 1] as number, bytes[last] as number)
    const shift = shifts[block] as number
    if (shift === 0) {
      const start = last - width + 1
      for (const needle of buckets.get(block) ?? [])
        if (standsAt(bytes, start, needle)) found.push({ start, end: start + needle.length })
    }
    last += shift === 0 ? 1 : shift
  }
  return found
}

const standsAt = (bytes: Uint8Array, start: number, needle: Uint8Array): boolean => {
  if (start + needle.length > bytes.length) return false
  for (let index = 0; index < needle.length; index++) if (bytes[start + index] !== needle[index]) return false
  return true
}

/** Spans that overlap become one. For spans in any order. */
export const merged = (spans: ReadonlyArray<Span>): ReadonlyArray<Span> => {
  if (spans.length < 2) return spans
  const [first, ...rest] = spans.toSorted((a, b) => a.start - b.start)
  const all: Array<Span> = first === undefined ? [] : [first]
  for (const span of rest) {
    const before = all.at(-1)
    if (before === undefined || span.start >= before.end) all.push(span)
    else if (span.end > before.end) all[all.length - 1] = { start: before.start, end: span.end }
  }
  return all
}
