/**
 * What can go wrong with the way of the agents to the relay: the forwarder, the bridge, and the relay as it is seen from inside.
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

/** Something else listens where the relay's own address must be in the environment. */
export class ForwarderPortBusy extends Schema.TaggedError<ForwarderPortBusy>()("ForwarderPortBusy", {
  /** Who was to listen: `relay-forwarder` in the environment, or this program's bridge into the environment's network. */
  listener: Schema.Literals(["relay-forwarder", "bridge"]),
  /** `host:port` inside the environment. */
  address: Schema.String,
  attempts: Schema.Int,
  /** Who listens there, such as `process 42 (python3 -m http.server)`; `undefined` where nobody tells. */
  owner: Schema.UndefinedOr(Schema.String),
  lastLines: LastLines
}) {
  override get message(): string {
    const who = this.listener === "bridge" ? "the bridge to the relay" : "relay-forwarder"
    const attempts = this.attempts === 1 ? "" : ` in ${this.attempts} attempts`
    const owner = this.owner ?? "another program, which cannot be seen from there,"
    return `${who} could not bind ${this.address}${attempts}: ${owner} listens there; end it, or give the relay another port`
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

/** The relay does not answer programs in the environment, so agents would wait for it in vain. */
export class RelayNotAnswering extends Schema.TaggedError<RelayNotAnswering>()("RelayNotAnswering", {
  environment: Schema.String,
  /** As the agents dial it. */
  relayUrl: Schema.String,
  /** What of ours stands between them: nothing, the forwarder, or the bridge. */
  through: Schema.Literals(["nothing", "relay-forwarder", "bridge"]),
  attempts: Schema.Int,
  /** What became of the last handshake, such as `Connection refused`. */
  detail: Schema.String
}) {
  override get message(): string {
    const way = this.through === "nothing" ? "" : ` through the ${this.through === "bridge" ? "bridge" : "forwarder"}`
    return (
      `the relay at ${this.relayUrl} does not answer programs in ${this.environment}${way}, ` +
      `asked ${this.attempts} times: ${this.detail}. Check that it runs and that this address leads there`
    )
  }
}

/** Everything that can keep agents from the relay. */
export const ForwardReason = Schema.Union([
  RelayUrlUnusable,
  BinaryMissing,
  ForwarderNotLaunched,
  ForwarderNotReady,
  ForwarderPortBusy,
  ForwarderDied,
  RelayNotAnswering,
  ...EnvironmentReason.members
])

/** Everything that can keep agents from the relay. */
export type ForwardReason = typeof ForwardReason.Type
