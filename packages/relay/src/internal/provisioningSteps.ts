/** Names the step of provisioning in which the relay, or what was given, failed. */
import { Effect } from "effect"
import { RelayStepFailed } from "../ProvisioningError.ts"
import type { RelayError, RelayReason } from "../RelayError.ts"

/** The reason without the operation: the step says more. */
export const reasonOf = <A, R>(effect: Effect.Effect<A, RelayError, R>): Effect.Effect<A, RelayReason, R> =>
  Effect.mapError(effect, ({ reason }) => reason)

/** Turns a reason into a step's. */
export const atStep =
  (step: string) =>
  <A, R>(effect: Effect.Effect<A, RelayReason, R>): Effect.Effect<A, RelayStepFailed, R> =>
    Effect.mapError(effect, (reason) => new RelayStepFailed({ step, reason }))
