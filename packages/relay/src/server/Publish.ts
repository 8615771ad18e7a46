/**
 * One submission from start to end: taken in or refused, delivered to subscribers, and access ended where the event
 * ended it.
 */
import type { Submission } from "./EventChecks.ts"
import * as Delivery from "./Delivery.ts"
import * as Ingest from "./Ingest.ts"
import type { RelayRules, RelayState } from "./RelayState.ts"

/** What became of a submission, and what to send to whom. */
export interface Published {
  readonly state: RelayState
  readonly answer: Ingest.Answer
  readonly outgoing: ReadonlyArray<Delivery.Outgoing>
}

/**
 * `now` in seconds. Deliveries come in the order in which the events came to be, the ends of subscriptions after
 * them.
 */
export const publish = (state: RelayState, rules: RelayRules, submission: Submission, now: number): Published => {
  const outcome = Ingest.submit(state, submission, rules, now)
  const deliveries = outcome.deliveries.flatMap((stored) => Delivery.deliver(outcome.state, stored))
  const { answer, changedChannel, excludes, state: next } = outcome
  if (changedChannel === undefined && excludes !== true) return { state: next, answer, outgoing: deliveries }
  const [revoked, ends] =
    changedChannel === undefined ? Delivery.exclude(next, rules) : Delivery.revoke(next, changedChannel)
  return { state: revoked, answer, outgoing: [...deliveries, ...ends] }
}
