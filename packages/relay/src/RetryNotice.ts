/**
 * Who is told that something on the relay failed and is tried again. A reference whose default tells nobody; whoever must
 * account for a trial provides one that keeps a record. It is read where the work is done, so it may be provided around one call.
 */
import { Context, Effect } from "effect"

/** A failure that is tried again after `pauseMillis`. Its message is fit for a person and holds no secret. */
export type RetryNotice = (failure: { readonly message: string }, pauseMillis: number) => Effect.Effect<void>

/** Who is told. */
export const RetryNotice = Context.Reference<RetryNotice>("@buzz-orchestra/relay/RetryNotice", {
  defaultValue: () => () => Effect.void
})
