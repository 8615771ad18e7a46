/**
 * Watches whose events a test pushes.
 */
import { Effect, Queue, type Scope, Stream } from "effect"
import type { EnvironmentError } from "../EnvironmentError.ts"
import type { WatchEvent } from "../WatchEvent.ts"

type Watcher = Queue.Queue<WatchEvent, EnvironmentError>

/** Every watch replays what was pushed before it was opened, so that a test need not know when that happens. */
export const makeReplayedWatches = Effect.sync(() => {
  const open = new Set<Watcher>()
  const pushed: Array<WatchEvent> = []
  let failure: EnvironmentError | undefined
  return {
    open: Effect.gen(function* () {
      const queue: Watcher = yield* Queue.make<WatchEvent, EnvironmentError>()
      Queue.offerAllUnsafe(queue, pushed)
      if (failure === undefined) open.add(queue)
      else yield* Queue.fail(queue, failure)
      yield* Effect.addFinalizer(() => {
        open.delete(queue)
        return Queue.shutdown(queue)
      })
      return Stream.fromQueue(queue)
    }) satisfies Effect.Effect<Stream.Stream<WatchEvent, EnvironmentError>, never, Scope.Scope>,
    push: (...events: ReadonlyArray<WatchEvent>) =>
      Effect.sync(() => {
        pushed.push(...events)
        for (const queue of open) Queue.offerAllUnsafe(queue, events)
      }),
    fail: (error: EnvironmentError) =>
      Effect.suspend(() => {
        failure = error
        return Effect.forEach([...open], (queue) => Queue.fail(queue, error), { discard: true })
      })
  }
})
