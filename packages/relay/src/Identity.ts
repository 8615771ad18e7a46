/**
 * A key pair that speaks on a relay, and the owner's attestation that lets a fresh key in. Making and parsing identities
 * needs `Schnorr`; the effects for that live here too.
 */
import type { Redacted } from "effect"

/** Who signs. The secret never leaves `Redacted` except inside the signer and an agent's environment. */
export interface Identity {
  /** x-only public key, 64 hex. */
  readonly pubkey: string
  /** 64 hex. */
  readonly secretKey: Redacted.Redacted<string>
  /** The NIP-OA tag as compact JSON (`["auth",owner,conditions,signature]`), when an owner attested this key. */
  readonly authTag: Redacted.Redacted<string> | undefined
}
