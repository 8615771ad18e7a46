/**
 * One whole trial: prepare, provision, `TrialRuntime.run`, teardown. What the command and embedding programs call. This
 * file is the contract; the implementation is `TrialLive`.
 */
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import type { ProvisioningError } from "@buzz-orchestra/relay/ProvisioningError"
import { Context, type Effect } from "effect"
import type { RuntimeLaunchError } from "./RuntimeLaunchError.ts"
import type { Outcome } from "./TrialEvent.ts"
import type { TrialOptions } from "./TrialOptions.ts"
import type { TrialSummary } from "./TrialSummary.ts"

/** What became of a trial that ended with an outcome. */
export interface TrialResult {
  readonly outcome: Outcome
  /** The orchestrator's finishing message; `undefined` unless the outcome is `done`. */
  readonly completion: NostrEvent | undefined
  /** As written to `summary.json`. */
  readonly summary: TrialSummary
  /** The trial directory. */
  readonly directory: string
}

/** Runs whole trials, one at a time, in the environment of its layer. */
export class Trial extends Context.Service<
  Trial,
  {
    /**
     * Runs one trial in the environment and on the relay of the layers. Nothing is provisioned or launched when preparing
     * fails, as it does with `EnvironmentBusy` while another trial is in the environment. Whatever happens, failure and
     * interruption included, everything launched is ended and the trial directory is written before this returns; a failed
     * clean-up step is a warning and an entry in the summary, never the error.
     */
    run(options: TrialOptions): Effect.Effect<TrialResult, RuntimeLaunchError | ProvisioningError>
  }
>()("@buzz-orchestra/runtime/Trial") {}
