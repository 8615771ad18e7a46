/**
 * The relay's "no" to a submitted event.
 */
import { Result } from "effect"

/** Why an event was not taken. */
export interface Refusal {
  /** The relay's text, as it stands in `OK` frames and in the HTTP envelope. */
  readonly message: string
  /** HTTP status. With 200 the answer is `accepted: false`, which clients must not take for success. */
  readonly status: 200 | 400 | 403 | 507
}

/** A failed check; a broken rule is a 400 unless said otherwise. */
export const refuse = (message: string, status: Refusal["status"] = 400): Result.Result<never, Refusal> =>
  Result.fail({ message, status })

/** Turns a rule's text into the refusal it means. */
export const orRefuse = <A>(result: Result.Result<A, string>): Result.Result<A, Refusal> =>
  Result.mapError(result, (message): Refusal => ({ message, status: 400 }))
