/**
 * What a container engine can answer instead of what was asked.
 */
import { Schema } from "effect"

/** Nobody answers at the engine's address, or the connection broke. */
export class EngineUnreachable extends Schema.TaggedError<EngineUnreachable>()("EngineUnreachable", {
  /** Where it was looked for, without credentials. */
  address: Schema.String,
  detail: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return `no container engine answers at ${this.address}: ${this.detail}`
  }
}

/** The engine answered with an error. */
export class EngineRefused extends Schema.TaggedError<EngineRefused>()("EngineRefused", {
  /** What was asked, such as `start container 3f2a`. */
  action: Schema.String,
  /** HTTP status. */
  status: Schema.Int,
  detail: Schema.String
}) {
  override get message() {
    return `the container engine did not ${this.action}: ${this.detail} (status ${this.status})`
  }
}

/** How a call to a container engine fails. */
export type EngineError = EngineUnreachable | EngineRefused
