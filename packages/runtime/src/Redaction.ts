/**
 * Takes secrets out of text before it reaches a person, a file of the bundle or an error. Pure.
 *
 * Found are the secrets of the trial in every form in which programs print them (as they are, upper case, `nsec1…`, base64
 * and base64url at any alignment, percent-encoded, escaped as in JSON), and tokens that have the shape of a provider's key. A
 * text that comes in pieces goes through `feed`, so that a secret across two pieces is found as well.
 */
import * as Identity from "@buzz-orchestra/relay/Identity"
import { Redacted } from "effect"

/** What stands where a secret was. */
export const REDACTED = "[redacted]"

/** Shorter secrets are not looked for: such a text stands in innocent words, and guards nothing. */
export const MIN_SECRET_LENGTH = 8

/** Characters of a line that `feed` holds back at most. Real lines end long before. */
export const MAX_HELD_LENGTH = 65_536

/** Knows what to look for. Make it once per trial: the forms of a secret are computed here. */
export interface Redactor {
  /** Texts to take out, the longest first. None holds a line break. */
  readonly forms: ReadonlyArray<string>
}

/** A redactor for these secrets. Of a NIP-OA tag, which is JSON with a signature in it, the signature alone is found too. */
export const make = (secrets: ReadonlyArray<Redacted.Redacted<string>>): Redactor => ({
  forms: [...new Set(secrets.flatMap((secret) => parts(Redacted.value(secret))).flatMap(spellings))]
    .filter((form) => form.length >= MIN_SECRET_LENGTH && !/[\r\n]/.test(form))
    // Of two forms, one inside the other, the longer one must go first.
    .toSorted((a, b) => b.length - a.length)
})

/** The text without secrets. */
export const apply = (redactor: Redactor, text: string): string => {
  // A search for a long literal skips most of the text, so a hundred of them cost less than one alternation.
  const known = redactor.forms.reduce(
    (rest, form) => (rest.includes(form) ? rest.replaceAll(form, REDACTED) : rest),
    text
  )
  return known.replace(KEY_SHAPES, (_, bearer: string | undefined) => `${bearer ?? ""}${REDACTED}`)
}

/** One text, once. */
export const redact = (text: string, secrets: ReadonlyArray<Redacted.Redacted<string>>): string =>
  apply(make(secrets), text)

/**
 * The next piece of a text: returns what to hold back until the next call, and what can be shown. Whole lines are shown at
 * once. At the end of the text `apply` shows what is still held.
 */
export const feed = (redactor: Redactor, held: string, piece: string): readonly [held: string, shown: string] => {
  const text = held + piece
  const lines = text.lastIndexOf("\n") + 1
  const cut = text.length - lines > MAX_HELD_LENGTH ? outsideSecrets(redactor, text) : lines
  return [text.slice(cut), apply(redactor, text.slice(0, cut))]
}

/** A place to cut a line that is too long to hold, so far from its end that every secret before it is complete. */
const outsideSecrets = (redactor: Redactor, text: string): number => {
  let cut = text.length - Math.max(redactor.forms[0]?.length ?? 0, MAX_HELD_LENGTH / 2)
  for (const { 0: token, index } of text.matchAll(KEY_SHAPES))
    if (index < cut && index + token.length > cut) cut = index
  // Moving the cut for one form can put it inside another, so the search starts over.
  for (let moved = true; moved;) {
    const inside = redactor.forms
      .map((form) => ({ form, index: text.indexOf(form, Math.max(0, cut - form.length + 1)) }))
      .find(({ form, index }) => index !== -1 && index < cut && index + form.length > cut)
    moved = inside !== undefined
    cut = inside?.index ?? cut
  }
  return cut
}

/** Keys by their shape: OpenAI, Anthropic and OpenRouter, Databricks, Nostr, Google, GitHub, and anything after `Bearer`. */
const KEY_SHAPES =
  /(\bbearer[ \t]+)[\w.~+/=-]{16,}|\b(?:sk-[\w-]{16,}|dapi[0-9a-f]{16,}(?:-\d+)?|nsec1[02-9ac-hj-np-z]{20,}|AIza[\w-]{30,}|gh[opsur]_[A-Za-z0-9]{20,})/gi

/** The secret, and those parts of it that are secret on their own: its lines, and the signature of an attestation. */
const parts = (secret: string): ReadonlyArray<string> => {
  const lines = secret.split(/[\r\n]+/)
  const signature = /"([0-9a-f]{128})"/.exec(secret)?.[1]
  return [secret, ...lines, ...lines.map((line) => line.trim()), ...(signature === undefined ? [] : [signature])]
}

const spellings = (secret: string): ReadonlyArray<string> => [
  ...escaped(secret),
  ...(/^[0-9a-fA-F]+$/.test(secret) ? [secret.toLowerCase(), secret.toUpperCase()] : []),
  ...(/^[0-9a-fA-F]{64}$/.test(secret) ? keySpellings(secret) : []),
  ...percentEncoded(secret),
  ...base64(new TextEncoder().encode(secret))
]

/** As in a JSON string, or a debug print, and once more inside another one. */
const escaped = (text: string): ReadonlyArray<string> => {
  const once = JSON.stringify(text).slice(1, -1)
  return [text, once, JSON.stringify(once).slice(1, -1)]
}

/** A secret key as people and bytes have it. */
const keySpellings = (hex: string): ReadonlyArray<string> => {
  const key = hex.toLowerCase()
  const nsec = Redacted.value(Identity.nsec({ pubkey: "", secretKey: Redacted.make(key), authTag: undefined }))
  const bytes = Uint8Array.from(key.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  return [nsec, nsec.toUpperCase(), ...base64(bytes), ...base64(new TextEncoder().encode(nsec))]
}

/** As in a URL: by the strict rule, by the lax one, with either case of digits, and as a form field. */
const percentEncoded = (text: string): ReadonlyArray<string> => {
  const bytes = [...new TextEncoder().encode(text)]
  const keeping = (unreserved: RegExp) =>
    bytes
      .map((value) =>
        value < 128 && unreserved.test(String.fromCodePoint(value)) ? String.fromCodePoint(value) : percent(value)
      )
      .join("")
  const upper = [
    keeping(/[\w.!~*'()-]/),
    keeping(/[\w.~-]/),
    keeping(/[A-Za-z0-9]/),
    keeping(/[\w.*-]/).replaceAll("%20", "+")
  ]
  return [...upper, ...upper.map((form) => form.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))]
}

const percent = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`

/**
 * What base64 of a longer text shows of these bytes, for each of the three places where they can begin in it. The characters
 * that also depend on what stands before or after are left out.
 */
const base64 = (bytes: Uint8Array): ReadonlyArray<string> =>
  [0, 1, 2].flatMap((before) => {
    const text = btoa(String.fromCodePoint(...new Uint8Array(before), ...bytes)).replaceAll("=", "")
    const shared = (before + bytes.length) % 3 === 0 ? 0 : 1
    const own = text.slice([0, 2, 3][before], text.length - shared)
    return [own, own.replaceAll("+", "-").replaceAll("/", "_")]
  })
