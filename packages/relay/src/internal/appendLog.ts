/**
 * A list that only grows, with any number of readers that each start at its beginning and follow its end. It lives as long
 * as somebody holds it; its end, once given, is final.
 */
import { Deferred, Effect, Exit, Option, Stream } from "effect"

/** Append at the end, read from the beginning. */
export interface AppendLog<A, E> {
  readonly append: (items: ReadonlyArray<A>) => Effect.Effect<void>
  /** Readers still get every item before the failure. Only the first failure counts. */
  readonly fail: (error: E) => Effect.Effect<void>
  readonly items: Effect.Effect<ReadonlyArray<A>>
  readonly stream: Stream.Stream<A, E>
}

/** An empty log. */
export const make = <A, E>(): Effect.Effect<AppendLog<A, E>> =>
  Effect.sync(() => {
    const items: Array<A> = []
    let failure: E | undefined
    let changed = Deferred.makeUnsafe<void>()
    const signal = () => {
      const waiting = changed
      changed = Deferred.makeUnsafe()
      Deferred.doneUnsafe(waiting, Exit.void)
    }
    const from = (index: number): Effect.Effect<readonly [ReadonlyArray<A>, Option.Option<number>], E> =>
      Effect.suspend(() => {
        if (index < items.length) {
          const rest = items.slice(index)
          return Effect.succeed([rest, Option.some(items.length)] as const)
        }
        return failure === undefined
          ? Effect.andThen(
              Deferred.await(changed),
              Effect.suspend(() => from(index))
            )
          : Effect.fail(failure)
      })
    return {
      append: (more) =>
        Effect.sync(() => {
          items.push(...more)
          signal()
        }),
      fail: (error) =>
        Effect.sync(() => {
          failure ??= error
          signal()
        }),
      items: Effect.sync(() => [...items]),
      stream: Stream.paginate(0, from)
    }
  })
