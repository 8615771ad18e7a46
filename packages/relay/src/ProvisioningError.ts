/**
 * Why a trial could not be provisioned.
 */
import { Schema } from "effect"
import { RelayReason } from "./RelayError.ts"

/** The same (run, trial) exists with another manifest. */
export class TrialConflict extends Schema.TaggedError<TrialConflict>()("TrialConflict", {
  runId: Schema.String,
  trialId: Schema.String,
  existingHash: Schema.String,
  requestedHash: Schema.String
}) {}

/** No API key is configured for an endpoint of the roster. */
export class ApiKeyMissing extends Schema.TaggedError<ApiKeyMissing>()("ApiKeyMissing", {
  endpoint: Schema.String,
  /** The environment variable that should hold it, when the endpoint's launch configuration names one. */
  variable: Schema.UndefinedOr(Schema.String)
}) {}

/** One of the relay's steps failed; `step` says which (profile, channel, member `<agent>`). */
export class RelayStepFailed extends Schema.TaggedError<RelayStepFailed>()("RelayStepFailed", {
  step: Schema.String,
  reason: RelayReason
}) {}

/** The handle could not be stored or read back. */
export class HandleStoreFailed extends Schema.TaggedError<HandleStoreFailed>()("HandleStoreFailed", {
  detail: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {}

export const ProvisioningReason = Schema.Union([TrialConflict, ApiKeyMissing, RelayStepFailed, HandleStoreFailed])
export type ProvisioningReason = typeof ProvisioningReason.Type

export class ProvisioningError extends Schema.TaggedError<ProvisioningError>()("ProvisioningError", {
  runId: Schema.String,
  trialId: Schema.String,
  reason: ProvisioningReason
}) {}
