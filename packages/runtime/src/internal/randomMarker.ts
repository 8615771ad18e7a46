/**
 * A marker nobody else can know: 128 random bits.
 */
import { Effect, Random } from "effect"
import { makeMarker, type Marker } from "./markedFrames.ts"

export const randomMarker: Effect.Effect<Marker> = Effect.gen(function* () {
  let digits = ""
  for (let word = 0; word < 4; word++) {
    digits += (yield* Random.nextIntBetween(0, 0xffff_ffff)).toString(16).padStart(8, "0")
  }
  return makeMarker(digits)
})
