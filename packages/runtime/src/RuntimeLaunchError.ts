/**
 * Every fail-closed condition of a trial: one wrapper around one closed union of tagged reasons.
 *
 * The reasons are grouped by the phase that can meet them, one module each under `reasons/`. A service method's type names
 * its own group (`RuntimeLaunchError<InstallReason>`), so signatures alone list what can go wrong where.
 */
import { Schema } from "effect"
import type { EnvironmentError, EnvironmentReason } from "./EnvironmentError.ts"
import { CollectReason, EvidenceNotExported } from "./reasons/CollectReason.ts"
import {
  ForwarderDied,
  ForwarderNotLaunched,
  ForwarderNotReady,
  ForwarderPortBusy,
  ForwardReason,
  RelayNotAnswering
} from "./reasons/ForwardReason.ts"
import { InstallReason } from "./reasons/InstallReason.ts"
import { AgentNotLaunched, AgentsNotSeparated, LaunchReason } from "./reasons/LaunchReason.ts"
import { ObservationRefused, ObserveReason, RelayLost } from "./reasons/ObserveReason.ts"
import { PostReason, TaskMentionMissing, TaskNotAccepted } from "./reasons/PostReason.ts"
import { PrepareReason } from "./reasons/PrepareReason.ts"
import { AgentsDied, AgentsNotReady, ReadyReason, SubscriptionFailed } from "./reasons/ReadyReason.ts"
import { OutputProbeFailed, VerifyOutputReason } from "./reasons/VerifyOutputReason.ts"

export * from "./reasons/CollectReason.ts"
export * from "./reasons/ForwardReason.ts"
export * from "./reasons/InstallReason.ts"
export * from "./reasons/LaunchReason.ts"
export * from "./reasons/ObserveReason.ts"
export * from "./reasons/PostReason.ts"
export * from "./reasons/PrepareReason.ts"
export * from "./reasons/ReadyReason.ts"
export * from "./reasons/VerifyOutputReason.ts"

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

/** Phases that can end a trial with an error. */
export type LaunchPhase = typeof LaunchPhase.Type

/** The closed union: each reason of each phase, once. */
export const RuntimeLaunchReason = Schema.Union([
  ...PrepareReason.members,
  ...InstallReason.members,
  ForwarderNotLaunched,
  ForwarderNotReady,
  ForwarderPortBusy,
  ForwarderDied,
  RelayNotAnswering,
  AgentNotLaunched,
  AgentsNotSeparated,
  AgentsNotReady,
  SubscriptionFailed,
  AgentsDied,
  TaskNotAccepted,
  TaskMentionMissing,
  RelayLost,
  ObservationRefused,
  OutputProbeFailed,
  EvidenceNotExported
])

/** The closed union: each reason of each phase, once. */
export type RuntimeLaunchReason = typeof RuntimeLaunchReason.Type

/**
 * A trial could not be launched, observed or collected: `reason` says why, `phase` says when. Made by `inPhase`, which
 * holds phase and reason together. `cause` is what another package or the platform reported.
 */
export class RuntimeLaunchError<
  out Reason extends RuntimeLaunchReason = RuntimeLaunchReason
> extends Schema.TaggedError<RuntimeLaunchError>()("RuntimeLaunchError", {
  phase: LaunchPhase,
  reason: RuntimeLaunchReason,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  declare readonly reason: Reason

  override get message(): string {
    return `${this.phase}: ${this.reason.message}`
  }
}

/** The error of each phase: what that phase, and no other, can meet. */
export interface ErrorByPhase {
  readonly prepare: RuntimeLaunchError<PrepareReason>
  readonly install: RuntimeLaunchError<InstallReason>
  readonly forward: RuntimeLaunchError<ForwardReason>
  readonly launch: RuntimeLaunchError<LaunchReason>
  readonly ready: RuntimeLaunchError<ReadyReason>
  readonly post: RuntimeLaunchError<PostReason>
  readonly observe: RuntimeLaunchError<ObserveReason>
  readonly "verify-output": RuntimeLaunchError<VerifyOutputReason>
  readonly collect: RuntimeLaunchError<CollectReason>
}

/** What a body may fail with in a phase: one of its reasons, or an environment's error, whose reason is one of them too. */
export type PhaseFailure<Phase extends LaunchPhase> =
  | ErrorByPhase[Phase]["reason"]
  | (EnvironmentReason extends ErrorByPhase[Phase]["reason"] ? EnvironmentError : never)

/**
 * Wraps a failure of `phase`, for `Effect.mapError(inPhase("install"))`. An environment's error gives its reason and
 * becomes the cause. Only what the phase's group names is accepted. `cause` is what another package or the platform
 * reported, when the reason stands for that.
 */
export const inPhase =
  <Phase extends LaunchPhase>(phase: Phase) =>
  (failure: PhaseFailure<Phase>, cause?: unknown): ErrorByPhase[Phase] => {
    const isEnvironment = failure._tag === "EnvironmentError"
    const reported = cause ?? (isEnvironment ? failure : undefined)
    return new RuntimeLaunchError({
      phase,
      reason: isEnvironment ? failure.reason : failure,
      ...(reported === undefined ? {} : { cause: reported })
    }) as ErrorByPhase[Phase]
  }
