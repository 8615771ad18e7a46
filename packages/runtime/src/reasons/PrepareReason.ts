/**
 * What can be found wrong before anything is provisioned or installed: the options, the team, what the condition pins.
 */
import { Schema } from "effect"

/** A setting of the runtime is outside of what it can mean. */
export class ConfigurationOutOfBounds extends Schema.TaggedError<ConfigurationOutOfBounds>()(
  "ConfigurationOutOfBounds",
  {
    /** Name of the setting or environment variable. */
    setting: Schema.String,
    /** The value as text. */
    value: Schema.String,
    /** What would have been accepted, such as `0 (unbounded) or more`. */
    expected: Schema.String
  }
) {
  override get message(): string {
    return `${this.setting} is ${this.value}, it must be ${this.expected}: correct the setting`
  }
}

/** A credential's agent id belongs to no class of the roster. */
export class CredentialWithoutClass extends Schema.TaggedError<CredentialWithoutClass>()("CredentialWithoutClass", {
  agentId: Schema.String,
  /** Class ids of the roster. */
  known: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return (
      `the credential of ${this.agentId} does not match a roster class (${this.known.join(", ")}): ` +
      "an agent id is `<class id>-<number>`; provision for this manifest"
    )
  }
}

/** A credential's role is another than the kind of its class. */
export class RoleMismatch extends Schema.TaggedError<RoleMismatch>()("RoleMismatch", {
  agentId: Schema.String,
  /** The kind of the class. */
  expected: Schema.String,
  /** The role of the credential. */
  actual: Schema.String
}) {
  override get message(): string {
    return (
      `the credential of ${this.agentId} has the role ${this.actual}, its class is of kind ${this.expected}: ` +
      "provision for this manifest"
    )
  }
}

/** The credentials are not exactly the roster's agents. At least one list has an entry. */
export class CredentialsIncomplete extends Schema.TaggedError<CredentialsIncomplete>()("CredentialsIncomplete", {
  missing: Schema.Array(Schema.String),
  unexpected: Schema.Array(Schema.String),
  repeated: Schema.Array(Schema.String)
}) {
  override get message(): string {
    const parts = [
      ...listed("no credential for", this.missing),
      ...listed("a credential too many for", this.unexpected),
      ...listed("two credentials for", this.repeated)
    ]
    return `${parts.join("; ")}: the credentials must be exactly the roster's agents`
  }
}

/** A pinned prompt cannot be read. */
export class PromptUnreadable extends Schema.TaggedError<PromptUnreadable>()("PromptUnreadable", {
  /** The class or agent whose prompt it is. */
  agent: Schema.String,
  path: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `the prompt of ${this.agent} cannot be read: ${this.detail} (${this.path}); check the artifact root and the path`
  }
}

/** A pinned prompt has other bytes than the condition says. Digests are sha256, 64 hex. */
export class PromptDigestMismatch extends Schema.TaggedError<PromptDigestMismatch>()("PromptDigestMismatch", {
  /** The class or agent whose prompt it is. */
  agent: Schema.String,
  path: Schema.String,
  expected: Schema.String,
  actual: Schema.String
}) {
  override get message(): string {
    return (
      `hash mismatch: the prompt of ${this.agent}, ${this.path}, has sha256 ${this.actual} instead of ${this.expected}; ` +
      "restore the pinned file, or pin the new one and get a new condition"
    )
  }
}

/** An agent has no endpoint. */
export class EndpointEmpty extends Schema.TaggedError<EndpointEmpty>()("EndpointEmpty", {
  agentId: Schema.String
}) {
  override get message(): string {
    return `${this.agentId} has no endpoint: name one in its roster class`
  }
}

/** The endpoints file has no entry for an agent's endpoint. */
export class EndpointNotConfigured extends Schema.TaggedError<EndpointNotConfigured>()("EndpointNotConfigured", {
  agentId: Schema.String,
  endpoint: Schema.String,
  /** Endpoints that have an entry. */
  configured: Schema.Array(Schema.String)
}) {
  override get message(): string {
    const configured = this.configured.length === 0 ? "none is" : `configured are ${this.configured.join(", ")}`
    return (
      `the endpoint ${this.endpoint} of ${this.agentId} has no launch configuration (${configured}): ` +
      "add it to the endpoints file"
    )
  }
}

/** An endpoint's variables would make an agent somebody else, or connect it to something else. */
export class EndpointOverridesIdentity extends Schema.TaggedError<EndpointOverridesIdentity>()(
  "EndpointOverridesIdentity",
  {
    endpoint: Schema.String,
    variables: Schema.Array(Schema.String)
  }
) {
  override get message(): string {
    return `the endpoint ${this.endpoint} overrides an agent's identity: remove ${this.variables.join(", ")} from it`
  }
}

/** A relay URL cannot be used for what it is needed for. */
export class RelayUrlUnusable extends Schema.TaggedError<RelayUrlUnusable>()("RelayUrlUnusable", {
  url: Schema.String,
  neededFor: Schema.Literals(["agents", "user", "forwarder"]),
  /** What would have been accepted, such as `ws:// or wss://`. */
  expected: Schema.String
}) {
  override get message(): string {
    const who = this.neededFor === "forwarder" ? "the relay forwarder" : `the ${this.neededFor}`
    return `${who} cannot use the relay URL ${this.url}: give one that starts with ${this.expected}`
  }
}

/** The task, with the mention in front of it, is longer than a channel message may be. Sizes in bytes. */
export class TaskTooLong extends Schema.TaggedError<TaskTooLong>()("TaskTooLong", {
  size: Schema.Int,
  limit: Schema.Int
}) {
  override get message(): string {
    return (
      `the task is ${this.size} bytes long, a message holds ${this.limit}: ` +
      "shorten the instruction, or put its text into a file of the task"
    )
  }
}

/** A file or folder that the task brings is not on this machine. */
export class TaskFileMissing extends Schema.TaggedError<TaskFileMissing>()("TaskFileMissing", {
  path: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `the task file ${this.path} cannot be read: ${this.detail}; check the path`
  }
}

/** The trial directory on this machine cannot be written. */
export class TrialDirectoryUnwritable extends Schema.TaggedError<TrialDirectoryUnwritable>()(
  "TrialDirectoryUnwritable",
  {
    path: Schema.String,
    detail: Schema.String
  }
) {
  override get message(): string {
    return `the trial directory cannot be written: ${this.detail} (${this.path}); choose another directory`
  }
}

/** Another trial runs in the environment, which holds the stack, the logs and the processes of one at a time. */
export class EnvironmentBusy extends Schema.TaggedError<EnvironmentBusy>()("EnvironmentBusy", {
  environment: Schema.String,
  /** The run and the trial that is in it. */
  runId: Schema.String,
  trialId: Schema.String
}) {
  override get message(): string {
    return (
      `${this.environment} is used by the trial ${this.trialId} of the run ${this.runId}: ` +
      "run one after the other, or give each trial an environment of its own"
    )
  }
}

/** Everything that preparing a trial can meet. */
export const PrepareReason = Schema.Union([
  ConfigurationOutOfBounds,
  CredentialWithoutClass,
  RoleMismatch,
  CredentialsIncomplete,
  PromptUnreadable,
  PromptDigestMismatch,
  EndpointEmpty,
  EndpointNotConfigured,
  EndpointOverridesIdentity,
  RelayUrlUnusable,
  TaskTooLong,
  TaskFileMissing,
  TrialDirectoryUnwritable,
  EnvironmentBusy
])

/** Everything that preparing a trial can meet. */
export type PrepareReason = typeof PrepareReason.Type

const listed = (label: string, agentIds: ReadonlyArray<string>): ReadonlyArray<string> =>
  agentIds.length === 0 ? [] : [`${label} ${agentIds.join(", ")}`]
