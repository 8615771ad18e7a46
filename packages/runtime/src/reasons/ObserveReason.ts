/**
 * What can end an observation that is no outcome.
 */
import { Schema } from "effect"
import { EnvironmentReason } from "../EnvironmentError.ts"
import { describeDeadline, FiredDeadline } from "./Circumstances.ts"
import { ForwarderDied } from "./ForwardReason.ts"
import { RelayUrlUnusable } from "./PrepareReason.ts"
import { AgentsDied, SubscriptionFailed } from "./ReadyReason.ts"

/** The relay was out of reach until the budget was used up: what the team did is unknown. */
export class RelayLost extends Schema.TaggedError<RelayLost>()("RelayLost", {
  relay: Schema.String,
  /** The trial's budget. */
  deadline: FiredDeadline,
  /** Connections tried since the last good one, with the one under way; or readings of the channel that failed in a row. */
  attempts: Schema.Int,
  /** What the last attempt met. */
  detail: Schema.String
}) {
  override get message(): string {
    return (
      `the relay ${this.relay} could not be reached for the rest of the budget of ${describeDeadline(this.deadline)} ` +
      `(${this.attempts} attempts, the last: ${this.detail}); check the relay and run the trial again`
    )
  }
}

/** The relay's rules ended the observation: no retry can help. */
export class ObservationRefused extends Schema.TaggedError<ObservationRefused>()("ObservationRefused", {
  relay: Schema.String,
  channelId: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return (
      `the relay ${this.relay} does not let the user read the channel ${this.channelId}: ${this.detail}; ` +
      "check that the user is still its member"
    )
  }
}

/** Everything that observing a trial can meet. */
export const ObserveReason = Schema.Union([
  RelayLost,
  ObservationRefused,
  RelayUrlUnusable,
  SubscriptionFailed,
  AgentsDied,
  ForwarderDied,
  ...EnvironmentReason.members
])

/** Everything that observing a trial can meet. */
export type ObserveReason = typeof ObserveReason.Type
