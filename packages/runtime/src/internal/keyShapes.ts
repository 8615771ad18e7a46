/**
 * Tokens that have the shape of a provider's key: OpenAI, Anthropic and OpenRouter, Databricks, Nostr, Google, GitHub, and anything
 * after `Bearer`. Pure.
 */
import type { Span } from "./literalSearch.ts"

/** What a token looks like. */
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

/** A look behind each character would cost more than all the rest, so that what stands before a match is looked at later. */
const SHAPES =
  /(bearer[ \t]+)[\w.~+/=-]{16,}|sk-[\w-]{16,}|dapi[0-9a-f]{16,}(?:-\d+)?|nsec1[02-9ac-hj-np-z]{20,}|AIza[\w-]{30,}|gh[opsur]_[A-Za-z0-9]{20,}/gi

const KINDS: ReadonlyArray<readonly [prefix: string, kind: KeyKind]> = [
  ["sk-ant-", "anthropic-key"],
  ["sk-", "openai-key"],
  ["dapi", "databricks-token"],
  ["nsec1", "nostr-private-key"],
  ["aiza", "google-key"],
  ["gh", "github-token"]
]

/** Every token, in order, of a text that has one character for each byte. */
export const findKeys = (text: string): ReadonlyArray<KeySpan> => {
  const found: Array<KeySpan> = []
  SHAPES.lastIndex = 0
  for (let match = SHAPES.exec(text); match !== null; match = SHAPES.exec(text)) {
    const { 0: token, 1: bearer, index } = match
    if (!beginsWord(text, index)) {
      SHAPES.lastIndex = index + 1
      continue
    }
    const end = index + token.length
    if (bearer !== undefined) found.push({ kind: "bearer-token", start: index + bearer.length, end })
    else found.push({ kind: kindOf(token), start: index, end })
  }
  return found
}

const kindOf = (token: string): KeyKind => {
  const small = token.slice(0, 8).toLowerCase()
  return KINDS.find(([prefix]) => small.startsWith(prefix))?.[1] ?? "openai-key"
}

const ESCAPE = String.fromCodePoint(0x1b)
/** After which a word begins, although a letter stands there: a colour, and in JSON what is no character of a word. */
const BEFORE_WORD = new RegExp(`(?:(?:${ESCAPE}|\\\\u001b)\\[[\\d;]*m|\\\\(?:[bfnrt]|u[\\da-f]{4}))$`, "i")
const LONGEST_BEFORE = 24

const beginsWord = (text: string, index: number): boolean =>
  index === 0 ||
  !/\w/.test(text[index - 1] ?? "") ||
  BEFORE_WORD.test(text.slice(Math.max(0, index - LONGEST_BEFORE), index))
