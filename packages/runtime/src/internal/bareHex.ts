/**
 * Finds words of exactly 64 hexadecimal digits in bytes that come in pieces: what a key looks like, and a digest and an id as well.
 * Pure but for the state of each search; memory does not grow with the text.
 */
import { concatBytes } from "./concatBytes.ts"
import { LINE_FEED, lineFeeds } from "./lineFeeds.ts"

/** Digits of a key, an id or a SHA-256 digest. */
const DIGITS = 64

/** One such word. */
export interface BareHex {
  /** In lower case. */
  readonly digits: string
  /** From 1. */
  readonly line: number
  /** Whether it is a whole text in JSON: between quotation marks that nothing escaped. */
  readonly isWhole: boolean
}

/** A search through one file, from its beginning. */
export interface BareHexSearch {
  /** Takes the next piece and returns the words that are known to have ended. */
  update(piece: Uint8Array): ReadonlyArray<BareHex>
  /** Takes the end of the file. */
  finish(): ReadonlyArray<BareHex>
}

/** Begins a search. */
export const search = (): BareHexSearch => {
  let held: Uint8Array = new Uint8Array(0)
  let lines = 1
  const take = (bytes: Uint8Array, end: number): ReadonlyArray<BareHex> => {
    const found = wordsIn(bytes, end).map(({ start, ...word }) => ({ ...word, line: lines + lineFeeds(bytes, start) }))
    lines += lineFeeds(bytes, end)
    return found
  }
  return {
    update: (piece) => {
      const bytes = concatBytes([held, piece])
      const end = endOfWords(bytes)
      const found = take(bytes, end)
      // With the characters before the word, which decide whether it is one, and a whole text.
      const kept = Math.max(0, end - 2)
      held = bytes.slice(kept)
      lines -= lineFeeds(bytes.subarray(kept, end), end - kept)
      return found
    },
    finish: () => take(concatBytes([held, LINE_FEED_ALONE]), held.length + 1)
  }
}

const LINE_FEED_ALONE = Uint8Array.of(LINE_FEED)
const QUOTE = 34
const BACKSLASH = 92

const HEX = new Uint8Array(256)
for (const char of "0123456789abcdefABCDEF") HEX[char.charCodeAt(0)] = 1
const WORD = HEX.slice()
for (const char of "ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ_") WORD[char.charCodeAt(0)] = 1

const decoder = new TextDecoder("latin1")

/** Where the last word begins that may go on in the next piece. Of one that is too long already, its last digits will do. */
const endOfWords = (bytes: Uint8Array): number => {
  let at = bytes.length
  while (at > 0 && bytes.length - at <= DIGITS && WORD[bytes[at - 1] ?? 0] === 1) at--
  return at
}

/** Of 64 digits in a row one stands at a multiple of 64: only those are looked at. */
const wordsIn = (bytes: Uint8Array, end: number) => {
  const found: Array<Pick<BareHex, "digits" | "isWhole"> & { readonly start: number }> = []
  for (let at = 0; at < end; at += DIGITS) {
    if (HEX[bytes[at] ?? 0] !== 1) continue
    let start = at
    while (start > 0 && at - start < DIGITS && HEX[bytes[start - 1] ?? 0] === 1) start--
    const after = start + DIGITS
    if (after > end || !isHex(bytes, at, after)) continue
    if (WORD[bytes[start - 1] ?? 0] === 1 || WORD[bytes[after] ?? 0] === 1) continue
    found.push({
      start,
      digits: decoder.decode(bytes.subarray(start, after)).toLowerCase(),
      isWhole: bytes[start - 1] === QUOTE && bytes[start - 2] !== BACKSLASH && bytes[after] === QUOTE
    })
  }
  return found
}

const isHex = (bytes: Uint8Array, from: number, to: number): boolean => {
  for (let at = from; at < to; at++) if (HEX[bytes[at] ?? 0] !== 1) return false
  return true
}
