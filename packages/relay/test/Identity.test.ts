import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { inspect } from "node:util"
import * as Identity from "../src/Identity.ts"
import { Schnorr } from "../src/Schnorr.ts"

// The public vector of NIP-19.
const HEX = "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa"
const NSEC = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"

const NOT_A_KEY = [
  "",
  "nsec1",
  HEX.slice(1),
  `${HEX}00`,
  HEX.replace("6", "g"),
  "0".repeat(64),
  "f".repeat(64),
  NSEC.replace("vl", "lv"),
  "npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6"
]

describe("Identity", () => {
  layer(Layer.merge(Schnorr.layerPure, SecureRandom.layerWebCrypto))((it) => {
    it.effect("reads and writes the published nsec", () =>
      Effect.gen(function* () {
        const fromNsec = yield* Identity.fromNsec(Redacted.make(NSEC))
        const fromHex = yield* Identity.fromHex(Redacted.make(HEX))
        assert.strictEqual(Redacted.value(fromNsec.secretKey), HEX)
        assert.strictEqual(fromNsec.pubkey, fromHex.pubkey)
        assert.strictEqual(Redacted.value(Identity.nsec(fromHex)), NSEC)
      })
    )

    it.effect("takes either form, upper case and space around it included", () =>
      Effect.gen(function* () {
        for (const text of [HEX, NSEC, HEX.toUpperCase(), ` ${NSEC}\n`]) {
          const identity = yield* Identity.parse(Redacted.make(text))
          assert.strictEqual(Redacted.value(identity.secretKey), HEX)
        }
      })
    )

    it.effect("refuses what is no key, without repeating it", () =>
      Effect.gen(function* () {
        for (const text of NOT_A_KEY) {
          const error = yield* Effect.flip(Identity.parse(Redacted.make(text)))
          assert.strictEqual(error.reason._tag, "KeyInvalid")
          if (text.length > 8) assert.notInclude(inspect(error, { depth: 9 }), text)
        }
      })
    )

    it.effect("generates a different key each time", () =>
      Effect.gen(function* () {
        const keys = yield* Effect.replicateEffect(Identity.generate, 20)
        assert.strictEqual(new Set(keys.map((key) => key.pubkey)).size, 20)
        for (const key of keys) {
          const again = yield* Identity.fromHex(key.secretKey)
          assert.strictEqual(again.pubkey, key.pubkey)
        }
      })
    )

    it.effect("draws again when the random bytes are no scalar", () =>
      Effect.gen(function* () {
        const draws = [new Uint8Array(32), new Uint8Array(32).fill(0xff), new Uint8Array(32).fill(1)]
        const random = SecureRandom.make(() => draws.shift() ?? new Uint8Array(32))
        const identity = yield* Effect.provideService(Identity.generate, SecureRandom.SecureRandom, random)
        assert.strictEqual(Redacted.value(identity.secretKey), "01".repeat(32))
      })
    )

    it.effect("shows no secret when it is printed", () =>
      Effect.gen(function* () {
        const identity = yield* Identity.fromHex(Redacted.make(HEX))
        for (const text of [
          inspect(identity, { depth: 9 }),
          JSON.stringify(identity),
          String(Identity.nsec(identity))
        ]) {
          assert.notInclude(text, HEX)
          assert.notInclude(text, NSEC)
        }
      })
    )
  })
})
