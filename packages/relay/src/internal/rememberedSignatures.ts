/** Checks a signature once: a channel is read again and again, and most of it is old. */
import { bytesToHex } from "@noble/hashes/utils.js"
import type { SchnorrOps } from "../Schnorr.ts"

/** Signatures that are remembered; a few hundred bytes each. Beyond it all are forgotten, which costs one check each. */
const CAPACITY = 20_000

/** The same operations; a signature that was good for a digest and a key is so without another look. */
export const remembering = (schnorr: SchnorrOps): SchnorrOps => {
  const good = new Set<string>()
  return {
    publicKey: (secretKey) => schnorr.publicKey(secretKey),
    sign: (digest, secretKey) => schnorr.sign(digest, secretKey),
    verify: (signature, digest, publicKey) => {
      const key = `${publicKey}${bytesToHex(digest)}${bytesToHex(signature)}`
      if (good.has(key)) return true
      if (!schnorr.verify(signature, digest, publicKey)) return false
      if (good.size >= CAPACITY) good.clear()
      good.add(key)
      return true
    }
  }
}
