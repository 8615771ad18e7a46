/** Follows sightings until the orchestrator's `DONE:` is among them; the rule is `Observation.watch`. */
import { Effect, Stream } from "effect"
import type { NostrEvent } from "../NostrEvent.ts"
import * as Observation from "../Observation.ts"

/** The sightings must not end without a failure: then there is always a first match to wait for. */
export const awaitDone = <E>(
  sightings: Stream.Stream<Observation.Sighting, E>,
  options: { readonly orchestrator: string; readonly after: string }
): Effect.Effect<NostrEvent, E> =>
  Effect.suspend(() => {
    let state = Observation.watchDone(options)
    return sightings.pipe(
      Stream.map((sighting) => (state = Observation.watch(state, sighting)).done),
      Stream.filter((done) => done !== undefined),
      Stream.runHead,
      Effect.flatMap(Effect.fromOption),
      Effect.catchTag("NoSuchElementError", Effect.die)
    )
  })
