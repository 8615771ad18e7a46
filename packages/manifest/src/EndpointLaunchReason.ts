/**
 * Reasons that concern an endpoints file beyond its fields.
 */
import { Schema } from "effect"
import { at } from "./internal/at.ts"

/** An endpoint's `env` sets variables that make up an agent's identity. */
export class IdentityOverridden extends Schema.TaggedError<IdentityOverridden>()("IdentityOverridden", {
  ...at,
  endpoint: Schema.String,
  keys: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `the endpoint \`${this.endpoint}\` may not override an agent's identity: remove ${this.keys.join(", ")}`
  }
}

/** An endpoint of the file that the manifest does not name. */
export class EndpointUnknown extends Schema.TaggedError<EndpointUnknown>()("EndpointUnknown", {
  ...at,
  endpoint: Schema.String
}) {
  override get message(): string {
    return `no class of the manifest uses the endpoint \`${this.endpoint}\`: correct the name or remove the entry`
  }
}

/** An endpoint of the manifest that the file does not have. */
export class EndpointMissing extends Schema.TaggedError<EndpointMissing>()("EndpointMissing", {
  ...at,
  endpoint: Schema.String
}) {
  override get message(): string {
    return `no launch config for the endpoint \`${this.endpoint}\` of the manifest: add an entry of that name`
  }
}

/** Reasons that concern an endpoints file beyond its fields. */
export const EndpointLaunchReason = Schema.Union([IdentityOverridden, EndpointUnknown, EndpointMissing])

/** Reasons that concern an endpoints file beyond its fields. */
export type EndpointLaunchReason = typeof EndpointLaunchReason.Type
