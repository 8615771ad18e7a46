/**
 * The memory of provisioning: which trials exist, with their keys. One handle per (run, trial). This file is the contract and
 * the memory that ends with the process; the one on disk is `TrialHandleFiles`.
 */
import { Context, Effect, Layer } from "effect"
import * as KeyLocks from "./internal/keyLocks.ts"
import type { HandleStoreFailed } from "./ProvisioningError.ts"
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
    /** The handle as it was stored, keys included, or `undefined`. API keys may be missing: whoever asks has them. */
    get(key: TrialKey): Effect.Effect<TrialHandle | undefined, HandleStoreFailed>
    put(handle: TrialHandle): Effect.Effect<void, HandleStoreFailed>
    /** Forgets the handle; one that is not there is no failure. */
    remove(key: TrialKey): Effect.Effect<void, HandleStoreFailed>
    /** The trials that are remembered, in no order. */
    readonly list: Effect.Effect<ReadonlyArray<TrialKey>, HandleStoreFailed>
    /** Runs the effect while nobody else holds this key's lock. Other keys are not held up. */
    withLock<A, E, R>(key: TrialKey, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R>
  }
>()("@buzz-orchestra/relay/TrialHandleStore") {
  /** Lives as long as the layer; nothing survives the process. */
  static readonly layerMemory: Layer.Layer<TrialHandleStore> = Layer.sync(TrialHandleStore, () => {
    const handles = new Map<string, TrialHandle>()
    return TrialHandleStore.of({
      get: (key) => Effect.sync(() => handles.get(KeyLocks.nameOf(key))),
      put: (handle) => Effect.sync(() => void handles.set(KeyLocks.nameOf(handle), handle)),
      remove: (key) => Effect.sync(() => void handles.delete(KeyLocks.nameOf(key))),
      list: Effect.sync(() => Array.from(handles.values(), ({ runId, trialId }) => ({ runId, trialId }))),
      withLock: KeyLocks.make()
    })
  })
}
