/**
 * What can go wrong while the task is posted.
 */
import { Schema } from "effect"
import { EnvironmentReason } from "../EnvironmentError.ts"
import { ForwarderDied } from "./ForwardReason.ts"
import { RelayUrlUnusable, TaskTooLong } from "./PrepareReason.ts"
import { AgentsDied } from "./ReadyReason.ts"

/** The relay did not take the task. */
export class TaskNotAccepted extends Schema.TaggedError<TaskNotAccepted>()("TaskNotAccepted", {
  relay: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `the relay ${this.relay} did not accept the task: ${this.detail}; check that the user may write to the channel`
  }
}

/** The relay stored the task without the mention that wakes the orchestrator. */
export class TaskMentionMissing extends Schema.TaggedError<TaskMentionMissing>()("TaskMentionMissing", {
  eventId: Schema.String,
  agentId: Schema.String,
  /** The orchestrator's, 64 hex. */
  pubkey: Schema.String
}) {
  override get message(): string {
    return (
      `the relay stored the task ${this.eventId} without its mention of ${this.agentId} (${this.pubkey}), ` +
      "so nobody would wake; check that it is a member of the channel and not the user itself"
    )
  }
}

/** Everything that posting the task can meet. */
export const PostReason = Schema.Union([
  RelayUrlUnusable,
  TaskTooLong,
  TaskNotAccepted,
  TaskMentionMissing,
  AgentsDied,
  ForwarderDied,
  ...EnvironmentReason.members
])

/** Everything that posting the task can meet. */
export type PostReason = typeof PostReason.Type
