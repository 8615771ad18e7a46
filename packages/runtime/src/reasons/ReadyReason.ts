/**
 * What can go wrong while agents come up, and how agents are lost at any time after.
 */
import { Schema } from "effect"
import { EnvironmentReason } from "../EnvironmentError.ts"
import { describeDeadline, FiredDeadline, LastLines, lastWords } from "./Circumstances.ts"
import { ForwarderDied } from "./ForwardReason.ts"

/** Agents run and did not subscribe to the channel in time. Sorted by agent id. */
export class AgentsNotReady extends Schema.TaggedError<AgentsNotReady>()("AgentsNotReady", {
  channelId: Schema.String,
  deadline: FiredDeadline,
  agents: Schema.Array(Schema.Struct({ agentId: Schema.String, lastLines: LastLines }))
}) {
  override get message(): string {
    const ids = this.agents.map((agent) => agent.agentId).join(", ")
    const said = this.agents.map((agent) => `${agent.agentId} said ${lastWords(agent.lastLines)}`).join("; ")
    return (
      `readiness timeout: ${ids} did not subscribe to the channel within ${describeDeadline(this.deadline)}. ${said}. ` +
      "Check the relay's address as the agents see it"
    )
  }
}

/** An agent said that it will not hear the channel: waiting for it is pointless. */
export class SubscriptionFailed extends Schema.TaggedError<SubscriptionFailed>()("SubscriptionFailed", {
  agentId: Schema.String,
  channelId: Schema.String,
  /** The agent's own words. */
  said: Schema.String,
  lastLines: LastLines
}) {
  override get message(): string {
    return (
      `${this.agentId} cannot hear the channel ${this.channelId}: it said "${this.said}". ` +
      "Check that it is a member of the channel and that the relay admits it"
    )
  }
}

/** How one agent ended. */
export const AgentDeath = Schema.Struct({
  agentId: Schema.String,
  pid: Schema.UndefinedOr(Schema.Int),
  /** What is known, such as `all its agent processes died`. */
  detail: Schema.String,
  exitCode: Schema.UndefinedOr(Schema.Int),
  /** Such as `SIGKILL`. */
  signal: Schema.UndefinedOr(Schema.String),
  /** When it was seen, milliseconds since the epoch. */
  at: Schema.Finite,
  lastLines: LastLines
})

/** How one agent ended. */
export type AgentDeath = typeof AgentDeath.Type

/** Agents ended that should be running. */
export class AgentsDied extends Schema.TaggedError<AgentsDied>()("AgentsDied", {
  agents: Schema.Array(AgentDeath)
}) {
  override get message(): string {
    const deaths = this.agents.map((agent) => {
      const code = agent.exitCode === undefined ? "" : `, exit code ${agent.exitCode}`
      const signal = agent.signal === undefined ? "" : `, ${agent.signal}`
      return `${agent.agentId} (${agent.detail}${code}${signal}; it said ${lastWords(agent.lastLines)})`
    })
    return `agent processes exited early: ${deaths.join(", ")}. Read their logs in the trial directory`
  }
}

/** Everything that waiting for the agents can meet. */
export const ReadyReason = Schema.Union([
  AgentsNotReady,
  SubscriptionFailed,
  AgentsDied,
  ForwarderDied,
  ...EnvironmentReason.members
])

/** Everything that waiting for the agents can meet. */
export type ReadyReason = typeof ReadyReason.Type
