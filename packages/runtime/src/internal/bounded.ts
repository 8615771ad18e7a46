/**
 * Clean-up that cannot hold up what follows it.
 */
import { Cause, Duration, Effect, Exit, Fiber, Option } from "effect"

/**
 * Runs `effect` to its end or to `deadline`, whatever comes first, and returns how it went: `undefined` when well, else a
 * sentence. It never fails. The effect has a fiber of its own, so that neither an interruption of the caller nor one that
 * the effect itself will not take can keep the caller waiting; past the deadline it is told to stop and left behind.
 */
export const bounded = <A, R>(
  deadline: Duration.Input,
  effect: Effect.Effect<A, { readonly message: string }, R>
): Effect.Effect<{ readonly value: Option.Option<A>; readonly error: string | undefined }, never, R> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkDetach(effect)
    const exit = yield* Effect.timeoutOption(Fiber.await(fiber), deadline)
    if (Option.isNone(exit)) {
      fiber.interruptUnsafe()
      const limit = Duration.format(Duration.fromInputUnsafe(deadline))
      return { value: Option.none(), error: `not finished after ${limit}, left behind` }
    }
    return Exit.match(exit.value, {
      onSuccess: (value) => ({ value: Option.some(value), error: undefined }),
      onFailure: (cause) => ({ value: Option.none(), error: sentence(cause) })
    })
  })

/** The first thing that went wrong, in one line. */
export const sentence = (cause: Cause.Cause<{ readonly message: string }>): string => {
  const error = Cause.squash(cause)
  return error instanceof Error ? error.message : String(error)
}
