/**
 * Every fail-closed condition of a trial: one wrapper, one closed union of tagged reasons, grouped by the phase that can
 * meet them. A service method's type names its own group, so signatures alone list what can go wrong where.
 */
import { Schema } from "effect"
import { EnvironmentReason } from "./EnvironmentError.ts"

/** Phases that can end a trial with an error. */
export const LaunchPhase = Schema.Literals([
  "prepare",
  "install",
  "forward",
  "launch",
  "ready",
  "post",
  "observe",
  "verify-output",
  "collect"
])
export type LaunchPhase = typeof LaunchPhase.Type

/** A file the trial needs is not on this machine. */
export class BinaryMissing extends Schema.TaggedError<BinaryMissing>()("BinaryMissing", {
  name: Schema.String,
  path: Schema.String
}) {}

export const RuntimeLaunchReason = Schema.Union([BinaryMissing, ...EnvironmentReason.members])
export type RuntimeLaunchReason = typeof RuntimeLaunchReason.Type

/** A trial could not be launched, observed or collected; `reason` says why, `phase` says when. */
export class RuntimeLaunchError extends Schema.TaggedError<RuntimeLaunchError>()("RuntimeLaunchError", {
  phase: LaunchPhase,
  reason: RuntimeLaunchReason,
  cause: Schema.optionalKey(Schema.Defect())
}) {}
