/**
 * BIP-340 in WebAssembly (libsecp256k1), several times faster than the pure implementation. A module of its own because
 * the library reads its `.wasm` file from beside itself: a single-file bundle that must stay alone must not import this.
 */
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import { Effect, Layer, Schema } from "effect"
import { NO_AUXILIARY_RANDOMNESS, Schnorr } from "./Schnorr.ts"

/** The WebAssembly module could not be loaded, usually because the `.wasm` file does not lie beside the library. */
export class SchnorrWasmUnavailable extends Schema.TaggedError<SchnorrWasmUnavailable>()("SchnorrWasmUnavailable", {
  cause: Schema.Defect()
}) {
  override get message() {
    return `the WebAssembly module of secp256k1 could not be loaded: ${String(this.cause)}`
  }
}

/** The fast implementation or nothing: fails when the module cannot be loaded. */
export const layerStrict: Layer.Layer<Schnorr, SchnorrWasmUnavailable> = Layer.effect(
  Schnorr,
  Effect.gen(function* () {
    const secp = yield* Effect.tryPromise({
      // Imported when the layer is built: a static import would throw while the program is still loading.
      try: () => import("tiny-secp256k1"),
      catch: (cause) => new SchnorrWasmUnavailable({ cause })
    })
    return Schnorr.of({
      publicKey(secretKey) {
        if (secretKey.length !== 32 || !secp.isPrivate(secretKey)) throw new RangeError("not a secp256k1 secret key")
        return bytesToHex(secp.xOnlyPointFromScalar(secretKey))
      },
      sign: (digest, secretKey) => secp.signSchnorr(digest, secretKey, NO_AUXILIARY_RANDOMNESS),
      verify(signature, digest, publicKey) {
        try {
          return secp.verifySchnorr(digest, hexToBytes(publicKey), signature)
        } catch {
          return false
        }
      }
    })
  })
)

/** The fast implementation; where it cannot be loaded the pure one, with a warning in the log. */
export const layer: Layer.Layer<Schnorr> = layerStrict.pipe(
  Layer.catch((error) =>
    Layer.unwrap(
      Effect.as(
        Effect.logWarning(`${error.message}; signatures are checked by the slower pure code`),
        Schnorr.layerPure
      )
    )
  )
)
