import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import { Schnorr } from "../src/Schnorr.ts"
import * as SchnorrWasm from "../src/SchnorrWasm.ts"

// Published with BIP-340 (test-vectors.csv): 0 signs with zero auxiliary randomness, the others only verify.
const SIGNING = {
  secretKey: "0000000000000000000000000000000000000000000000000000000000000003",
  publicKey: "f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9",
  digest: "0".repeat(64),
  signature:
    "e907831f80848d1069a5371b402410364bdf1c5f8307b0084c55f1ce2dca821525f66a4a85ea8b71e482a74f382d2ce5ebeee8fdb2172f477df4900d310536c0"
}
const VERIFYING = {
  publicKey: "d69c3509bb99e412e68b0fe8544e72837dfa30746d8be2aa65975f29d22dc7b9",
  digest: "4df3c3f68fcc83b27e9d42c90431a72499f17875c81a599b566c9889b9696703",
  signature:
    "00000000000000000000003b78ce563f89a0ed9414f5aa28ad0d96d6795f9c6376afb1548af603b3eb45c9f8207dee1060cb71c04e80f593060b07d28308d7f4"
}
const NOT_ON_THE_CURVE = "eefdea4cdb677750a420fee807eacf21eb9898ae79b9768766e4faa04a2d4a34"
const GROUP_ORDER = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"

for (const [name, implementation] of [
  ["pure", Schnorr.layerPure],
  ["wasm", SchnorrWasm.layerStrict],
  ["wasm or pure", SchnorrWasm.layer]
] as ReadonlyArray<readonly [string, Layer.Layer<Schnorr, SchnorrWasm.SchnorrWasmUnavailable>]>) {
  describe(`Schnorr, ${name}`, () => {
    layer(implementation)((it) => {
      it.effect("signs the published vector", () =>
        Effect.gen(function* () {
          const schnorr = yield* Schnorr
          assert.strictEqual(schnorr.publicKey(hexToBytes(SIGNING.secretKey)), SIGNING.publicKey)
          const signature = schnorr.sign(hexToBytes(SIGNING.digest), hexToBytes(SIGNING.secretKey))
          assert.strictEqual(bytesToHex(signature), SIGNING.signature)
        })
      )

      it.effect("verifies published vectors and nothing that differs from them", () =>
        Effect.gen(function* () {
          const schnorr = yield* Schnorr
          const verify = (signature: string, digest: string, publicKey: string) =>
            schnorr.verify(hexToBytes(signature), hexToBytes(digest), publicKey)
          assert.isTrue(verify(SIGNING.signature, SIGNING.digest, SIGNING.publicKey))
          assert.isTrue(verify(VERIFYING.signature, VERIFYING.digest, VERIFYING.publicKey))
          assert.isFalse(verify(VERIFYING.signature, SIGNING.digest, VERIFYING.publicKey))
          assert.isFalse(verify(VERIFYING.signature, VERIFYING.digest, SIGNING.publicKey))
          assert.isFalse(verify(VERIFYING.signature, VERIFYING.digest, NOT_ON_THE_CURVE))
        })
      )

      it.effect("takes malformed input for a signature that is not valid", () =>
        Effect.gen(function* () {
          const { verify } = yield* Schnorr
          const [signature, digest] = [hexToBytes(VERIFYING.signature), hexToBytes(VERIFYING.digest)]
          assert.isFalse(verify(signature.slice(1), digest, VERIFYING.publicKey))
          assert.isFalse(verify(signature, digest.slice(1), VERIFYING.publicKey))
          assert.isFalse(verify(signature, digest, "not hex"))
          assert.isFalse(verify(signature, digest, ""))
          assert.isFalse(verify(new Uint8Array(64), digest, VERIFYING.publicKey))
        })
      )

      it.effect("refuses secrets that are no scalar", () =>
        Effect.gen(function* () {
          const { publicKey } = yield* Schnorr
          for (const secret of ["0".repeat(64), GROUP_ORDER, "f".repeat(64), "01", ""]) {
            assert.throws(() => publicKey(hexToBytes(secret)), RangeError)
          }
        })
      )
    })
  })
}
