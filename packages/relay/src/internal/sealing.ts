/** Encrypts a text so that only who has the key can read it, and nobody can change it or put it in another place. */
import { hexToBytes } from "@noble/hashes/utils.js"
import { Effect, Redacted, Result } from "effect"
import type { SecureRandom } from "effect/crypto"
import { Base64 } from "effect/encoding"

/** A box for texts. `place` is what a text belongs to: it must be the same at both ends. */
export interface Sealing {
  readonly seal: (text: string, place: string) => Effect.Effect<string>
  /** Fails for another key, another place, or a changed text. */
  readonly open: (sealed: string, place: string) => Effect.Effect<string, "unreadable">
}

/** The box of one key, or `undefined` when it is not 64 hex digits. */
export const make = (
  key: Redacted.Redacted<string>,
  random: SecureRandom.SecureRandom["Service"]
): Sealing | undefined => {
  const hex = Redacted.value(key).trim()
  if (!/^[0-9a-fA-F]{64}$/.test(hex)) return undefined
  const cipher = Effect.promise(() =>
    crypto.subtle.importKey("raw", owned(hexToBytes(hex.toLowerCase())), "AES-GCM", false, ["encrypt", "decrypt"])
  )
  return {
    seal: Effect.fnUntraced(function* (text: string, place: string) {
      const iv = owned(yield* random.randomBytes(IV_BYTES))
      const imported = yield* cipher
      const sealed = yield* Effect.promise(() => crypto.subtle.encrypt(parameters(iv, place), imported, bytes(text)))
      return [ALGORITHM, Base64.encode(iv), Base64.encode(new Uint8Array(sealed))].join(":")
    }),
    open: Effect.fnUntraced(function* (sealed: string, place: string) {
      const [algorithm = "", iv = "", data = ""] = sealed.split(":")
      const parts = Result.all([Base64.decode(iv), Base64.decode(data)])
      if (algorithm !== ALGORITHM || Result.isFailure(parts)) return yield* Effect.fail("unreadable" as const)
      const [nonce, ciphertext] = parts.success
      const imported = yield* cipher
      const opened = yield* Effect.tryPromise({
        try: () => crypto.subtle.decrypt(parameters(owned(nonce), place), imported, owned(ciphertext)),
        catch: () => "unreadable" as const
      })
      return new TextDecoder().decode(opened)
    })
  }
}

const ALGORITHM = "aes-256-gcm"

/** What GCM is specified for. */
const IV_BYTES = 12

const parameters = (iv: Uint8Array<ArrayBuffer>, place: string) => ({
  name: "AES-GCM",
  iv,
  additionalData: bytes(place)
})

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

/** WebCrypto takes no view of shared memory. */
const owned = (view: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(view)
