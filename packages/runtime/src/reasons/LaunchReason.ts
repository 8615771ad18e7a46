/**
 * What can go wrong while an agent is launched.
 */
import { Schema } from "effect"
import { EnvironmentReason } from "../EnvironmentError.ts"
import { LastLines, lastWords } from "./Circumstances.ts"
import { ForwarderDied } from "./ForwardReason.ts"
import {
  ConfigurationOutOfBounds,
  EndpointEmpty,
  EndpointNotConfigured,
  EndpointOverridesIdentity
} from "./PrepareReason.ts"
import { AgentsDied } from "./ReadyReason.ts"

/** An agent could not be started. */
export class AgentNotLaunched extends Schema.TaggedError<AgentNotLaunched>()("AgentNotLaunched", {
  agentId: Schema.String,
  /**
   * `no-pid`: the launch did not say which process it started. `too-big`: environment and arguments exceed the system's
   * limit (E2BIG). `exec-format`: the program cannot run here (ENOEXEC, or its loader is missing). `refused`: anything else.
   */
  why: Schema.Literals(["no-pid", "too-big", "exec-format", "refused"]),
  detail: Schema.String,
  /** Of the launching command, when it ended with one. */
  exitCode: Schema.UndefinedOr(Schema.Int),
  lastLines: LastLines
}) {
  override get message(): string {
    const advice = {
      "no-pid": "Check that the environment's shell can start processes in the background",
      "too-big": "Make the endpoint's variables smaller",
      "exec-format": "Use a statically linked stack for this architecture",
      refused: `It said ${lastWords(this.lastLines)}`
    }[this.why]
    return `cannot launch agent ${this.agentId}: ${this.detail}. ${advice}`
  }
}

/** Each agent was to have a user of its own in the environment, and cannot. */
export class AgentsNotSeparated extends Schema.TaggedError<AgentsNotSeparated>()("AgentsNotSeparated", {
  environment: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return (
      `the agents cannot have users of their own in ${this.environment}: ${this.detail}. ` +
      "Run as root in an image with setpriv, or ask for `auto` or `image` users"
    )
  }
}

/** Everything that composing an agent's variables can meet. */
export const LaunchEnvironmentReason = Schema.Union([
  ConfigurationOutOfBounds,
  EndpointEmpty,
  EndpointNotConfigured,
  EndpointOverridesIdentity
])

/** Everything that composing an agent's variables can meet. */
export type LaunchEnvironmentReason = typeof LaunchEnvironmentReason.Type

/** Everything that launching an agent can meet. */
export const LaunchReason = Schema.Union([
  AgentNotLaunched,
  AgentsNotSeparated,
  ...LaunchEnvironmentReason.members,
  AgentsDied,
  ForwarderDied,
  ...EnvironmentReason.members
])

/** Everything that launching an agent can meet. */
export type LaunchReason = typeof LaunchReason.Type
