/**
 * One WebSocket to a relay as one identity: subscriptions, publishing, authentication (NIP-42), reconnecting. What a frame
 * means and what is answered is decided by the pure `Session`; this module owns socket, timers and queues.
 */
import { type Cause, Clock, Deferred, Effect, Exit, Queue, Random, Scope, Stream, SubscriptionRef } from "effect"
import { Socket } from "effect/socket"
import type { Filter } from "./Filter.ts"
import type { Identity } from "./Identity.ts"
import * as Backoff from "./internal/backoff.ts"
import {
  ConnectionEngine,
  type Filters,
  type PublishResult,
  type SubscriptionItem
} from "./internal/connectionEngine.ts"
import { socketDetail } from "./internal/socketDetail.ts"
import type { NostrEvent } from "./NostrEvent.ts"
import { RelayError, type RelayReason, RelayRefused, RelayUnreachable } from "./RelayError.ts"
import { toWs } from "./RelayUrl.ts"
import { Schnorr } from "./Schnorr.ts"
import { REPLY_TIMEOUT_MILLIS } from "./SessionState.ts"

export type { PublishResult, SubscriptionItem } from "./internal/connectionEngine.ts"

/** What the connection is doing. `attempt` counts the connections made and tried, from 1. */
export type ConnectionStatus =
  | { readonly _tag: "Connected"; readonly attempt: number }
  | { readonly _tag: "Reconnecting"; readonly attempt: number; readonly detail: string }

/** An open connection. It ends with the scope in which it was opened. */
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

/** Where to, and as whom. */
export interface RelayConnectionOptions {
  /** http(s) or ws(s). */
  readonly url: string
  readonly identity: Identity
}

/**
 * Connects and authenticates. Fails when the first attempt does; from then on a lost connection is re-opened for ever, with
 * back-off. The scope owns the socket and every subscription. A relay that stays silent is asked for a sign of life by a
 * query that matches nothing, so any WebSocket constructor will do.
 */
export const open = Effect.fn("RelayConnection.open")(function* (
  options: RelayConnectionOptions
): Effect.fn.Return<RelayConnection, RelayError, Schnorr | Socket.WebSocketConstructor | Scope.Scope> {
  const url = yield* Effect.mapError(Effect.fromResult(toWs(options.url)), fail)
  const schnorr = yield* Schnorr
  const clock = yield* Clock.Clock
  const socket = yield* Socket.makeWebSocket(url, { openTimeout: REPLY_TIMEOUT_MILLIS })
  const status = yield* SubscriptionRef.make<ConnectionStatus>(reconnecting(1, "connecting"))
  const firstReady = yield* Deferred.make<void, RelayError>()
  const readied = yield* Queue.unbounded<void>()
  const warnings = yield* Queue.unbounded<string>()
  const engine = new ConnectionEngine({
    url,
    identity: options.identity,
    schnorr,
    now: () => clock.currentTimeMillisUnsafe(),
    onReady: () => Queue.offerUnsafe(readied, undefined),
    onWarning: (text) => Queue.offerUnsafe(warnings, text)
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => engine.close()))
  yield* Queue.take(warnings).pipe(
    Effect.flatMap((text) => Effect.logWarning(text)),
    Effect.annotateLogs({ relay: url, pubkey: options.identity.pubkey }),
    Effect.forever,
    Effect.forkScoped
  )
  yield* keepConnected({ url, socket, engine, status, firstReady, readied }).pipe(Effect.forkScoped)
  yield* Deferred.await(firstReady)
  return {
    subscribe: (id, filters) => subscription(engine, id, filters),
    publish: (event) => publish(engine, url, event),
    status: SubscriptionRef.changes(status)
  }
}, releasedOnFailure)

/** A caller may try again in the same scope: a failed attempt leaves nothing behind in it. */
function releasedOnFailure<A, E, R>(
  effect: Effect.Effect<A, E, R | Scope.Scope>
): Effect.Effect<A, E, R | Scope.Scope> {
  return Effect.flatMap(Effect.flatMap(Effect.scope, Scope.fork), (scope) =>
    effect.pipe(
      Scope.provide(scope),
      Effect.onError(() => Scope.close(scope, Exit.void))
    )
  )
}

interface Running {
  readonly url: string
  readonly socket: Socket.Socket
  readonly engine: ConnectionEngine
  readonly status: SubscriptionRef.SubscriptionRef<ConnectionStatus>
  readonly firstReady: Deferred.Deferred<void, RelayError>
  /** One item for every connection that became ready. */
  readonly readied: Queue.Queue<void>
}

/** Ends when the relay refuses the identity for good, or when the first attempt fails. */
const keepConnected = Effect.fnUntraced(function* (running: Running) {
  const { engine, status, firstReady } = running
  let failures = 0
  for (let attempt = 1; ; attempt++) {
    // A link that broke right after it became ready may have left its item behind.
    yield* Queue.clear(running.readied)
    const connected = Queue.take(running.readied).pipe(
      Effect.tap(() => {
        failures = 0
        return SubscriptionRef.set(status, { _tag: "Connected", attempt })
      }),
      Effect.andThen(Deferred.succeed(firstReady, undefined)),
      Effect.forever
    )
    const detail = yield* Effect.flip(Effect.raceFirst(connection(running), connected))
    engine.detach()
    if (!engine.everReady) {
      engine.terminate(new RelayUnreachable({ url: running.url, detail }))
    }
    if (engine.end !== undefined) {
      yield* Deferred.fail(firstReady, engine.end)
      return
    }
    failures += 1
    yield* SubscriptionRef.set(status, reconnecting(attempt + 1, detail))
    yield* Effect.sleep(Backoff.delayMillis(RECONNECT, failures, yield* Random.next))
  }
})

/** One socket from its opening to its end, which is always a failure that says why. */
const connection = ({ socket, engine }: Running): Effect.Effect<never, string> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { pull } = yield* Effect.mapError(socket.reader, socketDetail)
      const { writeAll } = yield* socket.writer
      const outbox = yield* Queue.unbounded<string>()
      const dropped = yield* Deferred.make<never, string>()
      const sooner = yield* Queue.sliding<void>(1)
      engine.attach({ outbox, dropped, sooner })
      const reading = pull.pipe(
        Effect.mapError(socketDetail),
        Effect.flatMap((frames) => Effect.forEach(frames, (frame) => Effect.sync(() => engine.receive(text(frame))))),
        Effect.forever
      )
      const writing = Queue.takeAll(outbox).pipe(
        Effect.flatMap((frames) => Effect.mapError(writeAll(frames), socketDetail)),
        Effect.forever
      )
      const ticking = Effect.sync(() => engine.tick()).pipe(
        Effect.flatMap((millis) => Effect.timeoutOption(Queue.take(sooner), millis)),
        Effect.forever
      )
      return yield* Effect.raceAllFirst([reading, writing, ticking, Deferred.await(dropped)])
    })
  )

const subscription = (engine: ConnectionEngine, id: string, filters: Filters) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const queue = yield* Queue.unbounded<SubscriptionItem, RelayError | Cause.Done>()
      yield* Effect.acquireRelease(
        Effect.sync(() => engine.subscribe(id, filters, queue)),
        // Only leaves a note for the outbox: a finalizer that wrote itself would wait for ever while disconnected.
        () => Effect.sync(() => engine.unsubscribe(id, queue))
      )
      return Stream.fromQueue(queue)
    })
  )

const publish = Effect.fn("RelayConnection.publish")(function* (
  engine: ConnectionEngine,
  url: string,
  event: NostrEvent
) {
  const size = new TextEncoder().encode(JSON.stringify(["EVENT", event])).length
  if (size > MAX_FRAME_BYTES) {
    const detail = `an event of ${size} bytes does not fit a frame of ${MAX_FRAME_BYTES}; publish it over HTTP`
    return yield* fail(new RelayRefused({ url, status: undefined, detail }))
  }
  return yield* Deferred.await(engine.publish(event)).pipe(
    Effect.timeoutOrElse({
      duration: REPLY_TIMEOUT_MILLIS,
      orElse: () => fail(new RelayUnreachable({ url, detail: "no answer to a published event" }))
    }),
    Effect.ensuring(Effect.sync(() => engine.abandon(event.id)))
  )
})

/** The relay drops a connection without a word when a frame is larger. */
export const MAX_FRAME_BYTES = 65_536

/** Pauses before a lost connection is opened again. */
const RECONNECT: Backoff.Backoff = { baseMillis: 200, capMillis: 10_000 }

const fail = (reason: RelayReason) => new RelayError({ operation: "RelayConnection", reason })

const reconnecting = (attempt: number, detail: string): ConnectionStatus => ({ _tag: "Reconnecting", attempt, detail })

const text = (frame: string | Uint8Array): string =>
  typeof frame === "string" ? frame : new TextDecoder().decode(frame)
