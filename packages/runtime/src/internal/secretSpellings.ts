/**
 * Every form in which programs print a secret: as it is, upper case, `nsec1…`, base64 and base64url at any alignment,
 * percent-encoded, escaped as in JSON. Pure.
 */
import * as Identity from "@buzz-orchestra/relay/Identity"
import { Redacted } from "effect"

/** The forms of a secret and of those parts of it that are secret on their own. None holds a line break. */
export const spellingsOf = (secret: Redacted.Redacted<string>): ReadonlyArray<string> =>
  parts(Redacted.value(secret))
    .flatMap(spellings)
    .filter((form) => !/[\r\n]/.test(form))

/** The secret, and those parts of it that are secret on their own: its lines, and the signature of an attestation. */
const parts = (secret: string): ReadonlyArray<string> => {
  const lines = secret.split(/[\r\n]+/)
  const signature = /"([0-9a-f]{128})"/.exec(secret)?.[1]
  const all = [secret, ...lines, ...lines.map((line) => line.trim()), ...(signature === undefined ? [] : [signature])]
  return [...new Set(all)]
}

const spellings = (secret: string): ReadonlyArray<string> => [
  ...escaped(secret),
  ...(/^[0-9a-fA-F]+$/.test(secret) ? [secret.toLowerCase(), secret.toUpperCase()] : []),
  ...(/^[0-9a-fA-F]{64}$/.test(secret) ? keySpellings(secret) : []),
  ...percentEncoded(secret),
  ...base64(new TextEncoder().encode(secret))
]

/** As in a JSON string, or a debug print, and once more inside another one. Some writers of JSON escape more than they must. */
const escaped = (text: string): ReadonlyArray<string> => {
  const once = JSON.stringify(text).slice(1, -1)
  const forms = [once, once.replaceAll("/", "\\/"), codes(once, /[^ -~]/g), codes(once, /[<>&]/g)]
  return [text, ...forms.flatMap((form) => [form, JSON.stringify(form).slice(1, -1)])]
}

/** With these characters as `\u00e9`: those beyond ASCII, as Python does it, or those of HTML, as Go does. */
const codes = (text: string, characters: RegExp): string =>
  text.replaceAll(characters, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

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
