/**
 * A key pair that speaks on a relay, and the owner's attestation that lets a fresh key in. Making and parsing identities
 * needs `Schnorr`; the effects for that live here too.
 */
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { decode, nsecEncode } from "nostr-tools/nip19"
import * as OwnerAttestation from "./OwnerAttestation.ts"
import { KeyInvalid, RelayError } from "./RelayError.ts"
import { Schnorr, type SchnorrOps } from "./Schnorr.ts"

/** Who signs. The secret never leaves `Redacted` except inside the signer and an agent's environment. */
export interface Identity {
  /** x-only public key, 64 hex. */
  readonly pubkey: string
  /** 64 hex. */
  readonly secretKey: Redacted.Redacted<string>
  /** The NIP-OA tag as compact JSON (`["auth",owner,conditions,signature]`), when an owner attested this key. */
  readonly authTag: Redacted.Redacted<string> | undefined
}

/** A fresh key from cryptographically strong randomness (`Random` is for jitter, never for keys). */
export const generate: Effect.Effect<Identity, never, Schnorr | SecureRandom.SecureRandom> = Effect.gen(function* () {
  const schnorr = yield* Schnorr
  const random = yield* SecureRandom.SecureRandom
  const draw: Effect.Effect<Identity> = Effect.flatMap(random.randomBytes(32), (secret) => {
    const identity = fromBytes(schnorr, secret)
    // About one draw in 2^128 is no scalar.
    return identity === undefined ? draw : Effect.succeed(identity)
  })
  return yield* draw
}).pipe(Effect.withSpan("Identity.generate"))

/** A key from 64 hex digits (either case). */
export const fromHex = (secretKey: Redacted.Redacted<string>): Effect.Effect<Identity, RelayError, Schnorr> =>
  make("Identity.fromHex", "64 hex digits", secretKey, hexSecret)

/** A key from its bech32 form, `nsec1…` (NIP-19). */
export const fromNsec = (secretKey: Redacted.Redacted<string>): Effect.Effect<Identity, RelayError, Schnorr> =>
  make("Identity.fromNsec", "a key that starts with nsec1", secretKey, nsecSecret)

/** A key as people write it: 64 hex digits or `nsec1…`; space around it is dropped. */
export const parse = (secretKey: Redacted.Redacted<string>): Effect.Effect<Identity, RelayError, Schnorr> =>
  make("Identity.parse", "64 hex digits or a key that starts with nsec1", secretKey, (text) => {
    const trimmed = text.trim()
    return trimmed.startsWith("nsec1") ? nsecSecret(trimmed) : hexSecret(trimmed)
  })

/** The secret in its bech32 form. */
export const nsec = (identity: Identity): Redacted.Redacted<string> =>
  Redacted.make(nsecEncode(hexToBytes(Redacted.value(identity.secretKey))), { label: "nsec" })

/** The same identity, attested by an owner without conditions. The owner itself needs no attestation and gets none. */
export const attested = (schnorr: SchnorrOps, identity: Identity, owner: Identity): Identity =>
  owner.pubkey === identity.pubkey
    ? identity
    : {
        ...identity,
        authTag: Redacted.make(OwnerAttestation.attest(schnorr, owner.secretKey, identity.pubkey), {
          label: "auth tag"
        })
      }

const make = (
  operation: string,
  expected: string,
  text: Redacted.Redacted<string>,
  read: (text: string) => Uint8Array | undefined
): Effect.Effect<Identity, RelayError, Schnorr> =>
  Schnorr.use((schnorr) => {
    const secret = read(Redacted.value(text))
    const identity = secret === undefined ? undefined : fromBytes(schnorr, secret)
    return identity === undefined
      ? Effect.fail(new RelayError({ operation, reason: new KeyInvalid({ expected }) }))
      : Effect.succeed(identity)
  })

const fromBytes = (schnorr: SchnorrOps, secret: Uint8Array): Identity | undefined => {
  try {
    return {
      pubkey: schnorr.publicKey(secret),
      secretKey: Redacted.make(bytesToHex(secret), { label: "secret key" }),
      authTag: undefined
    }
  } catch {
    return undefined
  }
}

const hexSecret = (text: string): Uint8Array | undefined =>
  /^[0-9a-fA-F]{64}$/.test(text) ? hexToBytes(text.toLowerCase()) : undefined

const nsecSecret = (text: string): Uint8Array | undefined => {
  try {
    const decoded = decode(text)
    return decoded.type === "nsec" ? decoded.data : undefined
  } catch {
    return undefined
  }
}
