/**
 * One trial whose identities and channel exist: install, forward, launch, wait ready, post, observe, verify the output, and
 * always settle, sweep, collect. This file is the contract; the implementation is `TrialRuntimeLive`.
 */
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import type { TrialHandle } from "@buzz-orchestra/relay/TrialHandle"
import { Context, type Effect } from "effect"
import type { RuntimeLaunchError } from "./RuntimeLaunchError.ts"
import type { TrialDirectory } from "./TrialDirectory.ts"
import type { Outcome } from "./TrialEvent.ts"
import type { PreparedTrial } from "./TrialPreparation.ts"
import type { TrialRecord } from "./TrialRecord.ts"

/** What a trial is run with, once it is provisioned. */
export interface TrialRun {
  readonly trial: PreparedTrial
  readonly handle: TrialHandle
  readonly directory: TrialDirectory
  /** Learns everything that happens; `summary.json` is made of it. */
  readonly record: TrialRecord
}

/** How a trial ended that ended with an outcome. */
export interface TrialEnd {
  readonly outcome: Outcome
  /** The sentence that explains it. */
  readonly detail: string
  /** The orchestrator's finishing message; `undefined` unless the outcome is `done`. */
  readonly completion: NostrEvent | undefined
}

/** Runs trials whose identities and channel exist; `Trial` puts provisioning around it. */
export class TrialRuntime extends Context.Service<
  TrialRuntime,
  {
    /**
     * Runs the trial in the layer's environment. Everything it started has ended and everything it knows is in the trial
     * directory, `summary.json` excepted, when it returns, fails or is interrupted. No step of the clean-up can fail it.
     */
    run(trial: TrialRun): Effect.Effect<TrialEnd, RuntimeLaunchError>
  }
>()("@buzz-orchestra/runtime/TrialRuntime") {}
