/**
 * A channel as a gap-free, deduplicated, verified stream. This file is the contract and its value types; the
 * implementation over one WebSocket is `RelayObserverLive`.
 */
import { Context, type Effect, type Scope, type Stream } from "effect"
import type { Actor } from "./BuzzClient.ts"
import type { NostrEvent } from "./NostrEvent.ts"
import type { RelayError } from "./RelayError.ts"

/** What the connection is doing, for the person who waits. */
export type ObserverStatus =
  | { readonly _tag: "Connected"; readonly attempt: number }
  | { readonly _tag: "Reconnecting"; readonly attempt: number; readonly detail: string }

/** One channel while it is observed. It ends with the scope of `observe`: then streams and waits fail. */
export interface ChannelObservation {
  /** All events so far, then each new one, in order of first sight. A new subscriber starts at the beginning. */
  readonly events: Stream.Stream<NostrEvent, RelayError>
  /** Changes of the connection, starting with the current one. */
  readonly status: Stream.Stream<ObserverStatus>
  /** The events seen so far, in order of first sight. */
  readonly seen: Effect.Effect<ReadonlyArray<NostrEvent>>
  /**
   * Waits for a message by `orchestrator` that starts with `DONE:` and whose id was not seen before the event `after` was
   * seen. Order is the order of first sight, never `created_at`.
   */
  awaitDone(options: { readonly orchestrator: string; readonly after: string }): Effect.Effect<NostrEvent, RelayError>
}

/** Watches channels as a member, without ever speaking. */
export class RelayObserver extends Context.Service<
  RelayObserver,
  {
    /**
     * Subscribes as `actor` and returns once the relay has sent the channel's history (EOSE). A dropped connection is
     * re-opened with back-off and the whole channel is read again, so nothing is lost; only a refusal by the relay's rules
     * ends the observation, as an error in `events` and `awaitDone`. The scope owns the socket.
     */
    observe(options: {
      readonly actor: Actor
      readonly channelId: string
      /** Default: channel messages (9, 40002) and their edits and deletions. */
      readonly kinds?: ReadonlyArray<number>
    }): Effect.Effect<ChannelObservation, RelayError, Scope.Scope>
  }
>()("@buzz-orchestra/relay/RelayObserver") {}

/** What an orchestrator's finishing message starts with. */
export const DONE_PREFIX = "DONE:"
