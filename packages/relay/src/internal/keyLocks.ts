/** One lock per trial, for as long as somebody wants it. */
import { Effect, Semaphore } from "effect"
import type { TrialKey } from "../TrialHandleStore.ts"

/** No id contains a NUL, so two different keys never share a name. */
export const nameOf = (key: TrialKey): string => `${key.runId}\0${key.trialId}`

/** Runs an effect while nobody else of these locks holds its key. */
export type WithLock = <A, E, R>(key: TrialKey, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Locks of one process. */
export const make = (): WithLock => {
  const locks = new Map<string, { readonly semaphore: Semaphore.Semaphore; users: number }>()
  return (key, effect) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const name = nameOf(key)
        const lock = locks.get(name) ?? { semaphore: Semaphore.makeUnsafe(1), users: 0 }
        locks.set(name, lock)
        lock.users += 1
        return lock
      }),
      ({ semaphore }) => semaphore.withPermit(effect),
      (lock) =>
        Effect.sync(() => {
          lock.users -= 1
          if (lock.users === 0) locks.delete(nameOf(key))
        })
    )
}
