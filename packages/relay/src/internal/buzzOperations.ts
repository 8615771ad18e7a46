/**
 * What every `BuzzClient` does in the same way, whatever it speaks with the relay through.
 */
import { Effect } from "effect"
import { MAX_MESSAGE_BYTES, type OutgoingMessage } from "../BuzzClient.ts"
import { MessageTooLong, RelayError, type RelayReason } from "../RelayError.ts"

/** Profiles that one call or query asks for, at most: as many as the `buzz` program allows. */
export const MAX_PROFILES = 200

/** A reason as the error of the client's method that it ends. */
export const wrap =
  (operation: string) =>
  <A, R>(effect: Effect.Effect<A, RelayReason, R>): Effect.Effect<A, RelayError, R> =>
    Effect.mapError(effect, (reason) => new RelayError({ operation, reason }))

/** Refuses what no relay takes, before anything is sent. */
export const checkSize = ({ content }: OutgoingMessage): Effect.Effect<void, MessageTooLong> => {
  const size = new TextEncoder().encode(content).length
  return size > MAX_MESSAGE_BYTES ? Effect.fail(new MessageTooLong({ size, limit: MAX_MESSAGE_BYTES })) : Effect.void
}

/** Whom a message mentions, each once, as the keys stand in events. */
export const mentionedKeys = ({ mentions = [] }: OutgoingMessage): ReadonlyArray<string> => [
  ...new Set(mentions.map((pubkey) => pubkey.toLowerCase()))
]
