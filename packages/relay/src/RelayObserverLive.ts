/**
 * `RelayObserver` over one WebSocket: the subscription brings what is new, and after every (re)connection, and twice a minute,
 * the whole channel is read through `BuzzClient`, so nothing is lost between two connections, nor by one that loses. What is
 * seen in which order is decided by `Observation`.
 */
import { Context, Deferred, Duration, Effect, FiberHandle, Layer, Queue, Scope, Stream, Tracer } from "effect"
import type { Socket } from "effect/socket"
import { type Actor, BuzzClient } from "./BuzzClient.ts"
import * as ChannelHistory from "./ChannelHistory.ts"
import * as AppendLog from "./internal/appendLog.ts"
import { awaitDone } from "./internal/awaitDone.ts"
import * as Backoff from "./internal/backoff.ts"
import { retrying } from "./internal/retrying.ts"
import type { NostrEvent } from "./NostrEvent.ts"
import * as Observation from "./Observation.ts"
import * as RelayConnection from "./RelayConnection.ts"
import { isTransient, RelayError, RelayUnreachable } from "./RelayError.ts"
import { type ChannelObservation, RelayObserver } from "./RelayObserver.ts"
import * as RetryPolicy from "./RetryPolicy.ts"
import type { Schnorr } from "./Schnorr.ts"

/** Needs the client for reading, a WebSocket constructor, and a verifier. */
export const layer: Layer.Layer<RelayObserver, never, BuzzClient | Schnorr | Socket.WebSocketConstructor> =
  Layer.effect(
    RelayObserver,
    Effect.gen(function* () {
      const client = yield* BuzzClient
      // Without the layer's own scope and span, which would take the place of the observation's.
      const context = Context.omit(
        Scope.Scope,
        Tracer.ParentSpan
      )(yield* Effect.context<Schnorr | Socket.WebSocketConstructor>())

      const observe = Effect.fn("RelayObserver.observe")(function* (options: {
        readonly actor: Actor
        readonly channelId: string
        readonly kinds?: ReadonlyArray<number>
      }): Effect.fn.Return<ChannelObservation, RelayError, Scope.Scope> {
        const { actor, channelId, kinds = ChannelHistory.KINDS } = options
        const log = yield* AppendLog.make<Observation.Sighting, RelayError>()
        yield* Effect.addFinalizer(() => log.fail(closed(actor)))
        const connection = yield* Effect.provide(connect(actor), context)
        const subscription = connection.subscribe("channel", [{ kinds, "#h": [channelId], limit: 1 }])
        const read = client.readChannel(actor, channelId, { kinds })
        yield* follow({ channelId, subscription, read, log }).pipe(
          Effect.timeoutOrElse({ duration: HISTORY_DEADLINE, orElse: () => Effect.fail(noHistory(actor)) })
        )
        return {
          events: Stream.map(log.stream, ({ event }) => event),
          status: connection.status,
          seen: Effect.map(log.items, (sightings) => sightings.map(({ event }) => event)),
          awaitDone: Effect.fn("RelayObserver.awaitDone")(function* (done) {
            return yield* awaitDone(log.stream, done)
          })
        }
      })
      return RelayObserver.of({ observe })
    })
  )

interface Following {
  readonly channelId: string
  readonly subscription: Stream.Stream<RelayConnection.SubscriptionItem, RelayError>
  readonly read: Effect.Effect<ReadonlyArray<NostrEvent>, RelayError>
  readonly log: AppendLog.AppendLog<Observation.Sighting, RelayError>
}

/** Returns once the first reading is merged; what follows is written to the log by a fiber of the scope. */
const follow = Effect.fnUntraced(function* (following: Following) {
  const { channelId, subscription, read, log } = following
  const inputs = yield* Queue.unbounded<Observation.Input, RelayError>()
  const reading = yield* FiberHandle.make<void, never>()
  const merged = yield* Deferred.make<void, RelayError>()
  let observation = Observation.begin(channelId)
  let hasBegun = false

  const readAs = (generation: number) =>
    (hasBegun ? persistently(read) : read).pipe(
      Effect.flatMap((events) => Queue.offer(inputs, { _tag: "Read", generation, events })),
      Effect.catch((error) => Queue.fail(inputs, error)),
      Effect.asVoid
    )
  const take = Effect.fnUntraced(function* (input: Observation.Input) {
    const [next, { sightings, read }] = Observation.step(observation, input)
    observation = next
    if (sightings.length > 0) yield* log.append(sightings)
    if (read !== undefined) {
      yield* FiberHandle.run(reading, readAs(next.generation), { onlyIfMissing: read === "once" })
    }
    if (input._tag === "Read") {
      hasBegun = true
      yield* Deferred.succeed(merged, undefined)
    }
  })

  yield* subscription.pipe(
    Stream.runForEach((item) => Queue.offer(inputs, item)),
    Effect.catch((error) => Queue.fail(inputs, error)),
    Effect.forkScoped
  )
  yield* Effect.flatMap(Queue.take(inputs), take).pipe(
    Effect.forever,
    Effect.catch((error) => Effect.andThen(Deferred.fail(merged, error), log.fail(error))),
    Effect.forkScoped
  )
  yield* Effect.forkScoped(Effect.forever(Effect.delay(Queue.offer(inputs, { _tag: "Due" }), BACKSTOP)))
  yield* Deferred.await(merged)
})

/** The first connection is tried as often as the standard policy allows; later ones are the connection's own business. */
const connect = (actor: Actor) =>
  retrying(RelayConnection.open({ url: actor.relayUrl, identity: actor.identity }), ({ reason }, failures, random) =>
    RetryPolicy.pauseMillis(RetryPolicy.standard, reason, failures, random)
  )

/**
 * A relay that was there once is waited for as long as the observation lasts: the trial goes on without us. Only its rules
 * end the reading, once it has repeated itself: a relay that has just started may not know its members yet.
 */
const persistently = (read: Following["read"]) =>
  retrying(read, (error, failures, random) =>
    isFinal(error) && failures >= REFUSALS ? undefined : Backoff.delayMillis(AGAIN, failures, random)
  )

const AGAIN: Backoff.Backoff = { baseMillis: 500, capMillis: 10_000 }

/** Refusals in a row, some eight seconds, after which they are the relay's last word. */
const REFUSALS = 5

const isFinal = (error: RelayError): boolean => {
  const { reason } = error
  // A relay that is starting may answer with a proxy's page or an internal error.
  const passes =
    reason._tag === "RelayReplyMalformed" || (reason._tag === "RelayRefused" && (reason.status ?? 0) >= 500)
  return !passes && !isTransient(error)
}

/** A relay lets an identity make some 300 calls a minute; a channel of a few hundred messages takes one of them. */
const BACKSTOP = Duration.seconds(30)

/** A relay that answers and yet never ends the stored events. Long enough to wait out a rate limit while reading. */
const HISTORY_DEADLINE = Duration.seconds(120)

const noHistory = (actor: Actor): RelayError =>
  unreachable(actor, `no end of the channel's history within ${Duration.format(HISTORY_DEADLINE)}`)

const closed = (actor: Actor): RelayError => unreachable(actor, "the observation was closed")

const unreachable = (actor: Actor, detail: string): RelayError =>
  new RelayError({
    operation: "RelayObserver.observe",
    reason: new RelayUnreachable({ url: actor.relayUrl, detail })
  })
