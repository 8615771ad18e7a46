/**
 * Clean-up that cannot hold up what follows it.
 */
import { Cause, Duration, Effect, Exit, Fiber, Option } from "effect"

/**
 * Runs `effect` to its end or to `deadline`, whatever comes first, and returns its exit if it has one. The effect has a fiber of
 * its own, so that neither an interruption of the caller nor one that the effect itself will not take can keep the caller
 * waiting; past the deadline, and when the caller is interrupted, it is told to stop and left behind.
 */
export const exitWithin = <A, E, R>(
  deadline: Duration.Input,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<Option.Option<Exit.Exit<A, E>>, never, R> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkDetach(effect)
    const stop = Effect.sync(() => fiber.interruptUnsafe())
    const exit = yield* Effect.onInterrupt(Effect.timeoutOption(Fiber.await(fiber), deadline), () => stop)
    if (Option.isNone(exit)) yield* stop
    return exit
  })

/** How a step went. */
export interface Bounded<A> {
  readonly value: Option.Option<A>
  readonly error: string | undefined
  /** Whether the deadline passed. */
  readonly late: boolean
}

/** The same for a step of the clean-up: returns how it went, `undefined` when well, else a sentence. It never fails. */
export const bounded = <A, R>(
  deadline: Duration.Input,
  effect: Effect.Effect<A, { readonly message: string }, R>
): Effect.Effect<Bounded<A>, never, R> =>
  Effect.map(exitWithin(deadline, effect), (exit) => {
    if (Option.isNone(exit)) {
      const limit = Duration.format(Duration.fromInputUnsafe(deadline))
      return { value: Option.none(), error: `not finished after ${limit}, left behind`, late: true }
    }
    return Exit.match(exit.value, {
      onSuccess: (value) => ({ value: Option.some(value), error: undefined, late: false }),
      onFailure: (cause) => ({ value: Option.none(), error: sentence(cause), late: false })
    })
  })

/** The first thing that went wrong, in one line. */
export const sentence = (cause: Cause.Cause<{ readonly message: string }>): string => {
  const error = Cause.squash(cause)
  return error instanceof Error ? error.message : String(error)
}
