/**
 * One WebSocket to a relay as one identity: subscriptions, publishing, authentication (NIP-42), reconnecting. What a frame
 * means and what is answered is decided by the pure `Session`; this module owns socket, timers and queues.
 */
import type { Effect, Scope, Stream } from "effect"
import type { Socket } from "effect/socket"
import type { Filter } from "./Filter.ts"
import type { Identity } from "./Identity.ts"
import type { NostrEvent } from "./NostrEvent.ts"
import type { RelayError } from "./RelayError.ts"
import type { Schnorr } from "./Schnorr.ts"

/** One item of a subscription. After a reconnect the stored events and their end come again; who counts, counts by id. */
export type SubscriptionItem =
  | { readonly _tag: "Event"; readonly event: NostrEvent }
  | { readonly _tag: "EndOfStored" }

/** The relay's answer to a published event. */
export interface PublishResult {
  readonly accepted: boolean
  /** The relay's reason, or the empty text. */
  readonly message: string
}

/** What the connection is doing. `attempt` counts the connections made and tried, from 1. */
export type ConnectionStatus =
  | { readonly _tag: "Connected"; readonly attempt: number }
  | { readonly _tag: "Reconnecting"; readonly attempt: number; readonly detail: string }

export interface RelayConnection {
  /**
   * Subscribes under `id` (unique in this connection) while the stream runs. Only events whose id and signature verify are
   * delivered. `filters` may be a function: it is asked again at every reconnect, to narrow `since`. The stream fails with
   * `RelayRefused` when the relay closes the subscription by a rule, with `RelayAuthRefused` when it no longer takes the
   * identity; a lost connection is no failure. Undelivered items wait in memory, without a limit.
   */
  subscribe(
    id: string,
    filters: ReadonlyArray<Filter> | (() => ReadonlyArray<Filter>)
  ): Stream.Stream<SubscriptionItem, RelayError>
  /**
   * Publishes over the socket, ephemeral kinds too, and waits for the relay's answer. Sent again under the same id when the
   * connection breaks meanwhile; fails with `RelayUnreachable` when no answer came in time.
   */
  publish(event: NostrEvent): Effect.Effect<PublishResult, RelayError>
  /** Changes of the connection, starting with the current state. */
  readonly status: Stream.Stream<ConnectionStatus>
}

export interface RelayConnectionOptions {
  /** http(s) or ws(s). */
  readonly url: string
  readonly identity: Identity
}

/**
 * Connects and authenticates. Fails when the first attempt does; from then on a lost connection is re-opened for ever, with
 * back-off. The scope owns the socket.
 */
export declare const open: (
  options: RelayConnectionOptions
) => Effect.Effect<RelayConnection, RelayError, Schnorr | Socket.WebSocketConstructor | Scope.Scope>
