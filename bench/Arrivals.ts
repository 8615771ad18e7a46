/**
 * When the relay accepted each event. The relay checks an event's signature and stores it in the same turn of the event
 * loop, so a verifier that keeps the time tells it from inside, without a change of the relay.
 */
import { Context, Effect, Layer } from "effect"
import { Schnorr } from "../packages/relay/src/Schnorr.ts"
import * as SchnorrWasm from "../packages/relay/src/SchnorrWasm.ts"

/** Arrivals at the relay that was given this module's verifier. */
export class Arrivals extends Context.Service<
  Arrivals,
  {
    /** By `performance.now()`: when the event of this id was first checked; `undefined` of one that never came. */
    of(eventId: string): number | undefined
  }
>()("bench/Arrivals") {}

/** The arrivals, and the verifier for the relay alone: a client's would tell when a client looked. */
export const layer: Layer.Layer<Arrivals | Schnorr> = Layer.effectContext(
  Effect.gen(function* () {
    const schnorr = yield* Schnorr
    const seen = new Map<string, number>()
    const verify: (typeof schnorr)["verify"] = (signature, digest, publicKey) => {
      const isValid = schnorr.verify(signature, digest, publicKey)
      const id = Buffer.from(digest).toString("hex")
      if (isValid && !seen.has(id)) seen.set(id, performance.now())
      return isValid
    }
    return Context.make(Arrivals, Arrivals.of({ of: (id) => seen.get(id) })).pipe(
      Context.add(Schnorr, Schnorr.of({ ...schnorr, verify }))
    )
  })
).pipe(Layer.provide(SchnorrWasm.layer))
