/**
 * The memory of provisioning: which trials exist, with their keys. One handle per (run, trial).
 */
import { Context, Effect, Layer, Semaphore } from "effect"
import type { TrialHandle } from "./TrialHandle.ts"

/** What a trial is known by. */
export interface TrialKey {
  readonly runId: string
  readonly trialId: string
}

/** Keeps the handles of provisioned trials and one lock per trial. */
export class TrialHandleStore extends Context.Service<
  TrialHandleStore,
  {
    /** The handle as it was stored, keys included, or `undefined`. */
    get(key: TrialKey): Effect.Effect<TrialHandle | undefined>
    put(handle: TrialHandle): Effect.Effect<void>
    /** Forgets the handle; one that is not there is no failure. */
    remove(key: TrialKey): Effect.Effect<void>
    /** Runs the effect while nobody else holds this key's lock. Other keys are not held up. */
    withLock<A, E, R>(key: TrialKey, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R>
  }
>()("@buzz-orchestra/relay/TrialHandleStore") {
  /** Lives as long as the layer; nothing survives the process. */
  static readonly layerMemory: Layer.Layer<TrialHandleStore> = Layer.sync(TrialHandleStore, () => {
    const handles = new Map<string, TrialHandle>()
    const locks = new Map<string, { readonly semaphore: Semaphore.Semaphore; users: number }>()
    return TrialHandleStore.of({
      get: (key) => Effect.sync(() => handles.get(nameOf(key))),
      put: (handle) => Effect.sync(() => void handles.set(nameOf(handle), handle)),
      remove: (key) => Effect.sync(() => void handles.delete(nameOf(key))),
      withLock: (key, effect) =>
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
    })
  })
}

/** No id contains a NUL, so two different keys never share a name. */
const nameOf = (key: TrialKey): string => `${key.runId}\0${key.trialId}`
