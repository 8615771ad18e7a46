/**
 * Takes secrets out of text before it reaches a person, a file of the bundle or an error. Pure.
 *
 * Found are the secrets of the trial in every form in which programs print them (as they are, upper case, `nsec1…`, base64
 * and base64url at any alignment, percent-encoded, escaped as in JSON, with a terminal's colours inside), and tokens that have
 * the shape of a provider's key. The search is over bytes, so that a log of any encoding keeps all others. What comes in pieces
 * goes through `feed`, so that a secret across two pieces is found as well.
 */
import type { Redacted } from "effect"
import { concatBytes } from "./internal/concatBytes.ts"
import { findKeys, type KeyKind } from "./internal/keyShapes.ts"
import * as LiteralSearch from "./internal/literalSearch.ts"
import { spellingsOf } from "./internal/secretSpellings.ts"
import { partedLines, withoutAnsi } from "./internal/withoutAnsi.ts"

/** What stands where a secret was. */
export const REDACTED = "[redacted]"

/** Shorter secrets are not looked for: such a text stands in innocent words, and guards nothing. */
export const MIN_SECRET_LENGTH = 8

/** Bytes of a line that `feed` holds back at most. Real lines end long before. */
export const MAX_HELD_LENGTH = 65_536

/** Knows what to look for. Make it once per trial: the forms of a secret are computed here. */
export interface Redactor {
  /** Texts to take out, the longest first. None holds a line break. */
  readonly forms: ReadonlyArray<string>
  readonly search: LiteralSearch.LiteralSearch
  /** 1 for each byte that a secret can have. */
  readonly alphabet: Uint8Array
}

/** What a secret that was found is: one of the trial's own, or something of a known shape. */
export type SecretKind = "trial-credential" | KeyKind

/** Where a secret stands in some bytes; `end` is the first byte after it. */
export interface FoundSecret {
  readonly kind: SecretKind
  readonly start: number
  readonly end: number
}

/** A redactor for these secrets. Of a NIP-OA tag, which is JSON with a signature in it, the signature alone is found too. */
export const make = (secrets: ReadonlyArray<Redacted.Redacted<string>>): Redactor => {
  const forms = [...new Set(secrets.flatMap(spellingsOf))]
    .filter((form) => form.length >= MIN_SECRET_LENGTH)
    .toSorted((a, b) => b.length - a.length)
  const needles = forms.map((form) => encoder.encode(form))
  const alphabet = new Uint8Array(256)
  for (const needle of [encoder.encode(KEY_ALPHABET), ...needles]) for (const byte of needle) alphabet[byte] = 1
  return { forms, search: LiteralSearch.make(needles), alphabet }
}

/** Every secret in the bytes, in no order; overlapping ones are found each. */
export const find = (redactor: Redactor, bytes: Uint8Array): ReadonlyArray<FoundSecret> => {
  const text = latin1.decode(bytes)
  const found = findPlain(redactor, bytes, text)
  const lines = partedLines(bytes, text, redactor.alphabet)
  if (lines.length === 0) return found
  const parted = lines.flatMap(({ end, start }) => {
    const plain = withoutAnsi(bytes.subarray(start, end))
    return findPlain(redactor, plain.bytes, latin1.decode(plain.bytes)).map(({ kind, ...span }): FoundSecret => {
      const origin = plain.origin(span)
      return { kind, start: start + origin.start, end: start + origin.end }
    })
  })
  return [...found, ...parted]
}

/** The bytes without secrets; the very same ones where there is none. */
export const applyBytes = (redactor: Redactor, bytes: Uint8Array): Uint8Array => {
  const spans = LiteralSearch.merged(find(redactor, bytes))
  return spans.length === 0 ? bytes : join(around(bytes, spans, MARK))
}

/** The text without secrets. */
export const apply = (redactor: Redactor, text: string): string => {
  const bytes = encoder.encode(text)
  const spans = LiteralSearch.merged(find(redactor, bytes))
  if (spans.length === 0) return text
  return decoder.decode(join(around(bytes, spans, MARK)))
}

/** One text, once. */
export const redact = (text: string, secrets: ReadonlyArray<Redacted.Redacted<string>>): string =>
  apply(make(secrets), text)

/** Nothing is held back at the beginning of a text. */
export const NOTHING_HELD: Uint8Array = new Uint8Array(0)

/**
 * The next piece of a text: returns what to hold back until the next call, and what can be shown. Whole lines are shown at
 * once. At the end of the text `applyBytes` shows what is still held.
 */
export const feed = (
  redactor: Redactor,
  held: Uint8Array,
  piece: Uint8Array
): readonly [held: Uint8Array, shown: Uint8Array] => {
  const [kept, whole] = complete(redactor, held, piece)
  return [kept, join(whole.map((part) => applyBytes(redactor, part)))]
}

/**
 * The same without taking anything out: what to hold back, and parts of the text in which every secret that begins there is
 * complete.
 */
export const complete = (
  redactor: Redactor,
  held: Uint8Array,
  piece: Uint8Array
): readonly [held: Uint8Array, whole: ReadonlyArray<Uint8Array>] => {
  const lines = piece.lastIndexOf(LINE_FEED) + 1
  const whole = lines === 0 ? [] : [join([held, piece.subarray(0, lines)])]
  const line = lines === 0 ? join([held, piece]) : piece.subarray(lines)
  if (line.length <= MAX_HELD_LENGTH) return [line.slice(), whole]
  const cut = outsideSecrets(redactor, line)
  return [line.slice(cut), [...whole, line.subarray(0, cut)]]
}

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
/** One character per byte, whatever the bytes are. */
const latin1 = new TextDecoder("latin1")
/** What keys of a known shape are made of. */
const KEY_ALPHABET = "-+./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~"
const MARK = encoder.encode(REDACTED)
const LINE_FEED = 10

/** `text` is `bytes` with one character for each. */
const findPlain = (redactor: Redactor, bytes: Uint8Array, text: string): ReadonlyArray<FoundSecret> => {
  const known = LiteralSearch.find(redactor.search, bytes)
  const keys = findKeys(text)
  return known.length === 0 ? keys : [...known.map((span) => ({ ...span, kind: "trial-credential" as const })), ...keys]
}

/** The parts of the bytes around spans that are in order and do not overlap, with `mark` in the place of each span. */
const around = (bytes: Uint8Array, spans: ReadonlyArray<LiteralSearch.Span>, mark: Uint8Array) => {
  const parts: Array<Uint8Array> = []
  let from = 0
  for (const { end, start } of spans) {
    parts.push(bytes.subarray(from, start), mark)
    from = end
  }
  return [...parts, bytes.subarray(from)]
}

const join = (all: ReadonlyArray<Uint8Array>): Uint8Array => {
  const parts = all.filter(({ length }) => length > 0)
  if (parts.length === 1 && parts[0] !== undefined) return parts[0]
  return concatBytes(parts)
}

/**
 * A place to cut a line that is too long to hold, so far from its end that every secret before it is complete. A token without
 * an end is no key: past some length the whole line goes.
 */
const outsideSecrets = (redactor: Redactor, line: Uint8Array): number => {
  const cut = line.length - Math.max(redactor.search.longest, MAX_HELD_LENGTH / 2)
  if (cut <= 0) return 0
  const inside = LiteralSearch.merged(find(redactor, line)).find(({ end, start }) => start < cut && cut < end)
  if (inside === undefined) return cut
  return inside.start === 0 && line.length > 4 * MAX_HELD_LENGTH ? line.length : inside.start
}
