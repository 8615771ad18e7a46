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
}) {
  override get message() {
    return `trial ${this.trialId} of run ${this.runId} exists with manifest ${this.existingHash}, not ${this.requestedHash}; choose another trial id`
  }
}

/** No API key is configured for an endpoint of the roster. */
export class ApiKeyMissing extends Schema.TaggedError<ApiKeyMissing>()("ApiKeyMissing", {
  endpoint: Schema.String,
  /** The environment variable that should hold it, when the endpoint's launch configuration names one. */
  variable: Schema.UndefinedOr(Schema.String)
}) {
  override get message() {
    return `no API key for endpoint ${this.endpoint}${this.variable === undefined ? "" : `; set ${this.variable}`}`
  }
}

/** One of the relay's steps failed; `step` says which (profile, channel, member `<agent>`). */
export class RelayStepFailed extends Schema.TaggedError<RelayStepFailed>()("RelayStepFailed", {
  step: Schema.String,
  reason: RelayReason
}) {
  override get message() {
    return `${this.step}: ${this.reason.message}`
  }
}

/** A trial's saved handle could not be written, read or decrypted, or lies where others could read it. Holds no secret. */
export class HandleStoreFailed extends Schema.TaggedError<HandleStoreFailed>()("HandleStoreFailed", {
  /** The file, or the directory of the store. */
  file: Schema.String,
  detail: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return `the saved trial ${this.file} cannot be used: ${this.detail}`
  }
}

/** Every reason why a trial could not be provisioned. */
export const ProvisioningReason = Schema.Union([TrialConflict, ApiKeyMissing, RelayStepFailed, HandleStoreFailed])
/** Every reason why a trial could not be provisioned. */
export type ProvisioningReason = typeof ProvisioningReason.Type

/** A trial could not be provisioned, or the relay is not healthy (then both ids are empty). */
export class ProvisioningError extends Schema.TaggedError<ProvisioningError>()("ProvisioningError", {
  runId: Schema.String,
  trialId: Schema.String,
  reason: ProvisioningReason
}) {
  override get message() {
    return this.trialId === ""
      ? this.reason.message
      : `trial ${this.trialId} of run ${this.runId}: ${this.reason.message}`
  }
}
