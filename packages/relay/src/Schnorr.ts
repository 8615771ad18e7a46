/**
 * BIP-340 over secp256k1: the one primitive under every id that is signed or checked. The contract and the pure
 * implementation; the fast one (WebAssembly) is `SchnorrWasm`.
 */
import { Context } from "effect"

export class Schnorr extends Context.Service<
  Schnorr,
  {
    /** x-only public key (64 hex) of a 32-byte secret; throws a `RangeError` when the secret is not a valid scalar. */
    publicKey(secretKey: Uint8Array): string
    /** 64-byte signature over a 32-byte digest. */
    sign(digest: Uint8Array, secretKey: Uint8Array): Uint8Array
    /** Never throws: malformed input is simply not a valid signature. `publicKey` is 64 hex. */
    verify(signature: Uint8Array, digest: Uint8Array, publicKey: string): boolean
  }
>()("@buzz-orchestra/relay/Schnorr") {}
