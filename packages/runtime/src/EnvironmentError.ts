/**
 * What can go wrong at an environment's border.
 */
import { Schema } from "effect"

/** The environment is gone: sandbox dead, container stopped, out of memory, disk full. Nothing more can be run in it. */
export class EnvironmentLost extends Schema.TaggedError<EnvironmentLost>()("EnvironmentLost", {
  environment: Schema.String,
  detail: Schema.String,
  /** Exit code of the environment's own process, when known. */
  exitCode: Schema.UndefinedOr(Schema.Int),
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    return `${this.environment} is gone: ${this.detail}${this.exitCode === undefined ? "" : ` (exit code ${this.exitCode})`}`
  }
}

/** The environment could not be created. */
export class EnvironmentNotCreated extends Schema.TaggedError<EnvironmentNotCreated>()("EnvironmentNotCreated", {
  environment: Schema.String,
  detail: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    return `${this.environment} could not be created: ${this.detail}`
  }
}

/** The environment has no POSIX shell. */
export class ShellMissing extends Schema.TaggedError<ShellMissing>()("ShellMissing", {
  environment: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `no shell in ${this.environment}: /bin/sh does not run (${this.detail}); use an image that has one`
  }
}

/** One command could not be run at all (not: it exited with a code). */
export class CommandNotRun extends Schema.TaggedError<CommandNotRun>()("CommandNotRun", {
  environment: Schema.String,
  /** What was attempted, in words; never the command with its values. */
  action: Schema.String,
  detail: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    return `${this.environment} could not ${this.action}: ${this.detail}`
  }
}

/** A file did not get in or out. */
export class TransferFailed extends Schema.TaggedError<TransferFailed>()("TransferFailed", {
  environment: Schema.String,
  direction: Schema.Literals(["upload", "download"]),
  /** Path inside the environment. */
  path: Schema.String,
  detail: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    return `${this.environment}: ${this.direction} of ${this.path} failed: ${this.detail}`
  }
}

/** Everything that can go wrong at an environment's border. */
export const EnvironmentReason = Schema.Union([
  EnvironmentLost,
  EnvironmentNotCreated,
  ShellMissing,
  CommandNotRun,
  TransferFailed
])

/** Everything that can go wrong at an environment's border. */
export type EnvironmentReason = typeof EnvironmentReason.Type

/** An operation on an environment failed; `reason` says how. */
export class EnvironmentError extends Schema.TaggedError<EnvironmentError>()("EnvironmentError", {
  /** What was attempted, such as `EnvironmentService.exec`. */
  operation: Schema.String,
  reason: EnvironmentReason
}) {
  override get message(): string {
    return `${this.operation}: ${this.reason.message}`
  }
}
