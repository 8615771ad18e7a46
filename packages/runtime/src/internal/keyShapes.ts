/**
 * Tokens that have the shape of a provider's key, found in bytes: OpenAI, Anthropic and OpenRouter, Databricks, Nostr, Google,
 * GitHub, and anything after `Bearer`. All are long runs of few characters, so that looking at every sixteenth byte is enough
 * to see where one can be. Pure.
 */
import type { Span } from "./literalSearch.ts"

/** What a token looks like. `bearer` is the word before it that gives it away. */
export type KeyKind =
  | "anthropic-key"
  | "bearer-token"
  | "databricks-token"
  | "github-token"
  | "google-key"
  | "nostr-private-key"
  | "openai-key"

/** A token and what it looks like. */
export interface KeySpan extends Span {
  readonly kind: KeyKind
}

/** The shortest token; any other has more. */
const SHORTEST = 16

/** Of a byte: whether a token has such, whether it is of a word, whether a shape begins with it. */
const IN_TOKEN = 1
const IN_WORD = 2
const FIRST = 4

const TRAITS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = byte < 128 ? String.fromCodePoint(byte) : ""
  const isToken = /[\w.~+/=-]/.test(character) ? IN_TOKEN : 0
  return isToken | (/\w/.test(character) ? IN_WORD : 0) | (/[sdnag]/i.test(character) ? FIRST : 0)
})

const traits = (bytes: Uint8Array, at: number): number => TRAITS[bytes[at] as number] as number

/** The bit in which a small letter differs from its capital. */
const CASE = 0x20

const bytesOf = (pattern: RegExp): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, byte) => (byte < 128 && pattern.test(String.fromCodePoint(byte)) ? 1 : 0))

/** `prefix` in small letters, then at least `shortest` bytes of `more`. */
const SHAPES = (
  [
    ["anthropic-key", "sk-ant-", /[\w-]/, 12],
    ["openai-key", "sk-", /[\w-]/, 16],
    ["databricks-token", "dapi", /[0-9a-f-]/i, 16],
    ["nostr-private-key", "nsec1", /[02-9ac-hj-np-z]/i, 20],
    ["google-key", "aiza", /[\w-]/, 30],
    ...["ghp_", "gho_", "ghs_", "ghu_", "ghr_"].map((prefix) => ["github-token", prefix, /[A-Za-z0-9]/, 20] as const)
  ] as const
).map(([kind, prefix, pattern, shortest]) => ({
  kind,
  prefix: Uint8Array.from(prefix, (character) => (character.codePointAt(0) ?? 0) | CASE),
  more: bytesOf(pattern),
  shortest
}))

/** Every token, in order. */
export const findKeys = (bytes: Uint8Array): ReadonlyArray<KeySpan> => {
  const found: Array<KeySpan> = []
  for (let probe = SHORTEST - 1; probe < bytes.length; probe += SHORTEST) {
    if ((traits(bytes, probe) & IN_TOKEN) === 0) continue
    let start = probe
    while (start > 0 && (traits(bytes, start - 1) & IN_TOKEN) !== 0) start--
    const end = inRun(bytes, start, found)
    // The next probe is the first that lies beyond this run.
    probe += Math.floor((end - 1 - probe) / SHORTEST) * SHORTEST
  }
  return found
}

/** Finds the tokens in the run that begins at `start`, and returns where it ends. */
const inRun = (bytes: Uint8Array, start: number, found: Array<KeySpan>): number => {
  const isSecret = followsBearer(bytes, start)
  let before = 0
  let at = start
  for (; at < bytes.length; at++) {
    const here = TRAITS[bytes[at] as number] as number
    if ((here & IN_TOKEN) === 0) break
    if ((here & FIRST) !== 0 && (before & IN_WORD) === 0 && !isSecret) {
      const token = keyAt(bytes, at)
      if (token !== undefined) {
        found.push(token)
        at = token.end - 1
      }
    }
    before = here
  }
  if (isSecret && at - start >= SHORTEST) found.push({ kind: "bearer-token", start, end: at })
  return at
}

/** Most runs are digests and paths, in which nothing begins like a key. */
const keyAt = (bytes: Uint8Array, at: number): KeySpan | undefined => {
  for (const { kind, more, prefix, shortest } of SHAPES) {
    if (!beginsWith(bytes, at, prefix)) continue
    let end = at + prefix.length
    while (end < bytes.length && (more[bytes[end] as number] as number) !== 0) end++
    if (end - at - prefix.length >= shortest) return { kind, start: at, end }
  }
  return undefined
}

/** With letters of either case. */
const beginsWith = (bytes: Uint8Array, at: number, prefix: Uint8Array): boolean => {
  for (let index = 0; index < prefix.length; index++)
    if (((bytes[at + index] ?? 0) | CASE) !== prefix[index]) return false
  return true
}

const BEARER = Uint8Array.from("bearer", (character) => character.codePointAt(0) ?? 0)

/** Whether the word and spaces stand before `start`, and no letter before the word. */
const followsBearer = (bytes: Uint8Array, start: number): boolean => {
  let end = start
  while (end > 0 && (bytes[end - 1] === 0x20 || bytes[end - 1] === 0x09)) end--
  const from = end - BEARER.length
  if (end === start || from < 0 || (from > 0 && (traits(bytes, from - 1) & IN_WORD) !== 0)) return false
  return beginsWith(bytes, from, BEARER)
}
