/** Runs an effect again after failures, with pauses that the caller's rule gives. */
import { Effect, Random } from "effect"

/**
 * `pauseAfter` gets the failure, how many there were in a row, and a random number in [0, 1); it returns milliseconds, or
 * `undefined` to let the failure stand.
 */
export const retrying = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  pauseAfter: (error: E, failures: number, random: number) => number | undefined
): Effect.Effect<A, E, R> => {
  const attempt = (failures: number): Effect.Effect<A, E, R> =>
    effect.pipe(
      Effect.catch((error) =>
        Effect.flatMap(Random.next, (random) => {
          const pause = pauseAfter(error, failures, random)
          return pause === undefined ? Effect.fail(error) : Effect.andThen(Effect.sleep(pause), attempt(failures + 1))
        })
      )
    )
  return attempt(1)
}
