/**
 * Bytes as text with one character each, so that a log of any encoding can be searched as text and written back
 * byte for byte.
 */
import { Redacted } from "effect"

/** Arguments that one call of `String.fromCharCode` takes everywhere. */
const CHUNK = 8192

/** One character from U+0000 to U+00FF per byte. */
export const toText = (bytes: Uint8Array): string => {
  let text = ""
  for (let from = 0; from < bytes.length; from += CHUNK)
    // Spreading would walk an iterator over every byte, which takes ten times as long.
    text += Reflect.apply(String.fromCharCode, undefined, bytes.subarray(from, from + CHUNK))
  return text
}

/** The bytes of such a text. */
export const toBytes = (text: string): Uint8Array => {
  const bytes = new Uint8Array(text.length)
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index)
  return bytes
}

/** How an ordinary text appears in the text of its UTF-8 bytes. */
export const ofUtf8 = (text: string): string => toText(new TextEncoder().encode(text))

/** The same for a secret; one of ASCII stays as it is. */
export const ofSecret = (secret: Redacted.Redacted<string>): Redacted.Redacted<string> =>
  Redacted.make(ofUtf8(Redacted.value(secret)))
