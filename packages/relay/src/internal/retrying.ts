/** Runs an effect again after failures, with pauses that the caller's rule gives. */
import { Effect, Random } from "effect"
import { RetryNotice } from "../RetryNotice.ts"

/**
 * `pauseAfter` gets the failure, how many there were in a row, and a random number in [0, 1); it returns milliseconds, or
 * `undefined` to let the failure stand. Interruption is no failure: it ends the effect and the pauses alike.
 */
export const retrying = <A, E extends { readonly message: string }, R>(
  effect: Effect.Effect<A, E, R>,
  pauseAfter: (error: E, failures: number, random: number) => number | undefined
): Effect.Effect<A, E, R> => {
  const attempt = (failures: number): Effect.Effect<A, E, R> => effect.pipe(Effect.catch(again(failures)))
  const again = (failures: number) =>
    Effect.fnUntraced(function* (error: E): Effect.fn.Return<A, E, R> {
      const pause = pauseAfter(error, failures, yield* Random.next)
      if (pause === undefined) return yield* Effect.fail(error)
      const notice = yield* RetryNotice
      yield* notice(error, pause)
      yield* Effect.sleep(pause)
      return yield* attempt(failures + 1)
    })
  return attempt(1)
}
