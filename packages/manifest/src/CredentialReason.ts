/**
 * Reasons for which a trial's credentials do not fit the roster.
 */
import { Schema } from "effect"

/** The agent id does not end in `-<digits>`. */
export class AgentIdMalformed extends Schema.TaggedError<AgentIdMalformed>()("AgentIdMalformed", {
  agentId: Schema.String
}) {
  override get message(): string {
    return `the agent id \`${this.agentId}\` does not match a roster class: it must be \`<class id>-<number>\``
  }
}

/** The part before the last hyphen is no class of the roster. */
export class AgentClassUnknown extends Schema.TaggedError<AgentClassUnknown>()("AgentClassUnknown", {
  agentId: Schema.String,
  classId: Schema.String,
  known: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `the agent id \`${this.agentId}\` does not match a roster class: no \`${this.classId}\` among ${this.known.join(", ")}`
  }
}

/** The credential is for another kind than its class has. */
export class AgentKindMismatch extends Schema.TaggedError<AgentKindMismatch>()("AgentKindMismatch", {
  agentId: Schema.String,
  expected: Schema.String,
  actual: Schema.String
}) {
  override get message(): string {
    return `the credential of \`${this.agentId}\` has the role \`${this.actual}\`, its class is of kind \`${this.expected}\``
  }
}

/** Two credentials for one agent. */
export class AgentRepeated extends Schema.TaggedError<AgentRepeated>()("AgentRepeated", {
  agentId: Schema.String
}) {
  override get message(): string {
    return `two credentials for \`${this.agentId}\`: an agent has one identity`
  }
}

/** Agents of the roster without a credential, in roster order. */
export class AgentsMissing extends Schema.TaggedError<AgentsMissing>()("AgentsMissing", {
  agentIds: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `no credential for ${this.agentIds.join(", ")}: provision every agent of the roster`
  }
}

/** Credentials for agents beyond the roster's counts, in the order given. */
export class AgentsUnexpected extends Schema.TaggedError<AgentsUnexpected>()("AgentsUnexpected", {
  agentIds: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `credentials for agents the roster does not have: ${this.agentIds.join(", ")}`
  }
}

/** Reasons for which credentials do not fit the roster. */
export const CredentialReason = Schema.Union([
  AgentIdMalformed,
  AgentClassUnknown,
  AgentKindMismatch,
  AgentRepeated,
  AgentsMissing,
  AgentsUnexpected
])

/** Reasons for which credentials do not fit the roster. */
export type CredentialReason = typeof CredentialReason.Type
