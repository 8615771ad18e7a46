/**
 * BIP-340 over secp256k1: the one primitive under every id that is signed or checked. The contract and the pure
 * implementation; the fast one (WebAssembly) is `SchnorrWasm`.
 */
import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js"
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import { Context, Layer } from "effect"

/**
 * Signs and verifies over secp256k1. All three functions are synchronous and pure: the same secret and digest give the
 * same signature in every implementation (the auxiliary randomness of BIP-340 is 32 zero bytes).
 */
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
>()("@buzz-orchestra/relay/Schnorr") {
  /** Plain JavaScript, nothing beside the bundle; some 500 signatures or 800 checks a second. */
  static readonly layerPure: Layer.Layer<Schnorr> = Layer.sync(Schnorr, () => pure)
}

// The table of multiples that the library makes before its first signature takes as long as twenty signatures. With windows of
// 5 bits instead of 8 it takes a third of that and serves hardly slower; most programs that use it sign a few times only.
secp256k1.Point.BASE.precompute(5)

/** The service's value, as the pure functions over it take it. */
export type SchnorrOps = Schnorr["Service"]

/** BIP-340's auxiliary randomness, left out so that signing is a pure function; the nonce still depends on key and digest. */
export const NO_AUXILIARY_RANDOMNESS = new Uint8Array(32)

/** The pure implementation as a plain value, for pure code and tests. */
export const pure: SchnorrOps = {
  publicKey(secretKey) {
    try {
      return bytesToHex(schnorr.getPublicKey(secretKey))
    } catch {
      throw new RangeError("not a secp256k1 secret key")
    }
  },
  sign: (digest, secretKey) => schnorr.sign(digest, secretKey, NO_AUXILIARY_RANDOMNESS),
  verify(signature, digest, publicKey) {
    try {
      return schnorr.verify(signature, digest, hexToBytes(publicKey))
    } catch {
      return false
    }
  }
}
