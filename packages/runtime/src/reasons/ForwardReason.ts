/**
 * What can go wrong with the relay forwarder, the loopback bridge through which agents reach the relay.
 */
import { Schema } from "effect"
import { EnvironmentReason } from "../EnvironmentError.ts"
import { describeDeadline, FiredDeadline, LastLines, lastWords } from "./Circumstances.ts"
import { BinaryMissing } from "./InstallReason.ts"
import { RelayUrlUnusable } from "./PrepareReason.ts"

/** The forwarder could not be started. */
export class ForwarderNotLaunched extends Schema.TaggedError<ForwarderNotLaunched>()("ForwarderNotLaunched", {
  detail: Schema.String,
  /** Of the launching command, when it ended with one. */
  exitCode: Schema.UndefinedOr(Schema.Int),
  lastLines: LastLines
}) {
  override get message(): string {
    return `cannot launch relay-forwarder: ${this.detail}; it said ${lastWords(this.lastLines)}. Check that it runs there`
  }
}

/** The forwarder runs and never said `forwarding`. */
export class ForwarderNotReady extends Schema.TaggedError<ForwarderNotReady>()("ForwarderNotReady", {
  deadline: FiredDeadline,
  lastLines: LastLines
}) {
  override get message(): string {
    return (
      `relay-forwarder did not report readiness within ${describeDeadline(this.deadline)}; ` +
      `it said ${lastWords(this.lastLines)}. Check the program, or raise the readiness timeout`
    )
  }
}

/** Something else listens where the forwarder must. */
export class ForwarderPortBusy extends Schema.TaggedError<ForwarderPortBusy>()("ForwarderPortBusy", {
  /** `host:port` inside the environment. */
  address: Schema.String,
  attempts: Schema.Int,
  lastLines: LastLines
}) {
  override get message(): string {
    return (
      `relay-forwarder could not bind ${this.address} in ${this.attempts} attempts: ` +
      "another program listens there; end it, or give the relay another port"
    )
  }
}

/** The forwarder ended, so the agents have no relay. */
export class ForwarderDied extends Schema.TaggedError<ForwarderDied>()("ForwarderDied", {
  exitCode: Schema.UndefinedOr(Schema.Int),
  signal: Schema.UndefinedOr(Schema.String),
  lastLines: LastLines
}) {
  override get message(): string {
    const how =
      this.signal === undefined
        ? this.exitCode === undefined
          ? ""
          : ` with code ${this.exitCode}`
        : ` by ${this.signal}`
    return (
      `agent processes exited early: relay-forwarder ended${how} and the agents have no relay; ` +
      `it said ${lastWords(this.lastLines)}`
    )
  }
}

/** Everything that starting the forwarder can meet. */
export const ForwardReason = Schema.Union([
  RelayUrlUnusable,
  BinaryMissing,
  ForwarderNotLaunched,
  ForwarderNotReady,
  ForwarderPortBusy,
  ForwarderDied,
  ...EnvironmentReason.members
])

/** Everything that starting the forwarder can meet. */
export type ForwardReason = typeof ForwardReason.Type
