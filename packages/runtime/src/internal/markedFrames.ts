/**
 * A byte stream in which a random marker separates data from control lines: `<marker><line>\n`. Pure, so that the same
 * bytes give the same tokens however they are cut into chunks.
 */

/** One control byte, rare in text, then hex digits: a search for it is a search for one byte. */
export interface Marker {
  readonly text: string
  readonly bytes: Uint8Array
}

/** The marker of a connection; `digits` are random and never leave it except inside the marker. */
export const makeMarker = (digits: string): Marker => {
  const text = `\u0001${digits}`
  return { text, bytes: new TextEncoder().encode(text) }
}

/** How a POSIX `printf` format spells the marker. */
export const printfMarker = (marker: Marker): string => `\\001${marker.text.slice(1)}`

export type MarkedToken =
  /** A part of the data between two lines; how it is cut means nothing. */
  | { readonly _tag: "Data"; readonly bytes: Uint8Array }
  /** A complete control line, without marker and line end. */
  | { readonly _tag: "Line"; readonly line: string }

export interface MarkedState {
  readonly marker: Marker
  /** Bytes that may be the beginning of a marker or of an unfinished line. */
  readonly held: Uint8Array
}

const EMPTY = new Uint8Array(0)
const NEWLINE = 0x0a

export const initialMarked = (marker: Marker): MarkedState => ({ marker, held: EMPTY })

/** Takes the next chunk. `Data` tokens are views into `chunk` where possible. */
export const feedMarked = (
  state: MarkedState,
  chunk: Uint8Array
): readonly [MarkedState, ReadonlyArray<MarkedToken>] => {
  const { marker } = state
  const bytes = state.held.length === 0 ? chunk : concat(state.held, chunk)
  const tokens: Array<MarkedToken> = []
  let from = 0
  for (;;) {
    const at = findMarker(bytes, marker.bytes, from)
    if (at > from) tokens.push({ _tag: "Data", bytes: bytes.subarray(from, at) })
    if (at === bytes.length) return [{ marker, held: EMPTY }, tokens]
    const end = bytes.indexOf(NEWLINE, at + marker.bytes.length)
    if (end === -1) return [{ marker, held: bytes.slice(at) }, tokens]
    tokens.push({ _tag: "Line", line: decoder.decode(bytes.subarray(at + marker.bytes.length, end)) })
    from = end + 1
  }
}

const decoder = new TextDecoder()

/** Where a marker begins, possibly one that is cut off by the end; the length of `bytes` if there is none. */
const findMarker = (bytes: Uint8Array, marker: Uint8Array, from: number): number => {
  const first = marker[0] ?? 0
  for (let at = bytes.indexOf(first, from); at !== -1; at = bytes.indexOf(first, at + 1)) {
    const length = Math.min(marker.length, bytes.length - at)
    let same = 1
    while (same < length && bytes[at + same] === marker[same]) same++
    if (same === length) return at
  }
  return bytes.length
}

/** Joins two arrays of bytes. */
export const concat = (left: Uint8Array, right: Uint8Array): Uint8Array => {
  const joined = new Uint8Array(left.length + right.length)
  joined.set(left)
  joined.set(right, left.length)
  return joined
}
