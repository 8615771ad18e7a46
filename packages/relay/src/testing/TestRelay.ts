/**
 * Test facility: a relay in memory behind `BuzzClient` and `RelayObserver`, without sockets. It records every call, lets the
 * test speak for anybody, and breaks on demand. Membership is enforced as on a private channel of the real one.
 */
import { Context, Effect, Layer, Stream, SubscriptionRef } from "effect"
import { type Actor, BuzzClient } from "../BuzzClient.ts"
import * as ChannelHistory from "../ChannelHistory.ts"
import type { Identity } from "../Identity.ts"
import { awaitDone } from "../internal/awaitDone.ts"
import * as MemoryBuzzClient from "../internal/memoryBuzzClient.ts"
import { MemoryRelay } from "../internal/memoryRelay.ts"
import * as Templates from "../internal/templates.ts"
import { type NostrEvent, tagValues } from "../NostrEvent.ts"
import { RelayError, type RelayReason } from "../RelayError.ts"
import type { TrialHandle } from "../TrialHandle.ts"
import { type ChannelObservation, type ObserverStatus, RelayObserver } from "../RelayObserver.ts"

type Methods = BuzzClient["Service"] & RelayObserver["Service"]

/** Name of a method of `BuzzClient` or `RelayObserver`. */
export type Method = keyof Methods

/** One call as it was made. Secrets inside are still `Redacted`. */
export interface Call {
  readonly method: Method
  readonly actor: Actor
  /** What came after the actor: the options object, or the channel's id. */
  readonly argument: unknown
}

/** The test's hold on the relay in memory. One relay per built layer. */
export class TestRelay extends Context.Service<
  TestRelay,
  {
    /** Every call so far, oldest first, also those that failed. */
    readonly calls: Effect.Effect<ReadonlyArray<Call>>
    /** The next call of this method fails. Asked twice, the next two do. */
    failNext(method: Method, reason: RelayReason): Effect.Effect<void>
    /** The channel of a provisioned trial: the user owns it, the agents are members. */
    openChannel(handle: TrialHandle): Effect.Effect<void>
    /** Somebody publishes a message; no membership is asked, because agents are not part of the test. */
    say(
      identity: Identity,
      message: { readonly channelId: string; readonly content: string; readonly mentions?: ReadonlyArray<string> }
    ): Effect.Effect<NostrEvent>
    /** An event appears in the channel that its `h` tag names. It is not verified. */
    push(event: NostrEvent): Effect.Effect<void>
    /** Changes what every observation reports about its connection. */
    reportStatus(status: ObserverStatus): Effect.Effect<void>
    /** Ends every observation, as a refusal by the relay's rules does. */
    endObservations(reason: RelayReason): Effect.Effect<void>
    /** The profile names by public key. */
    readonly names: Effect.Effect<ReadonlyMap<string, string>>
    /** Whether a channel exists, and is archived. */
    channel(id: string): Effect.Effect<"absent" | "open" | "archived">
  }
>()("@buzz-orchestra/relay/testing/TestRelay") {
  static readonly layer: Layer.Layer<TestRelay | BuzzClient | RelayObserver> = Layer.effectContext(
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const status = yield* SubscriptionRef.make<ObserverStatus>({ _tag: "Connected", attempt: 1 })
  const relay = new MemoryRelay<Method>(status)
  return Context.make(TestRelay, control(relay)).pipe(
    Context.add(BuzzClient, MemoryBuzzClient.make(relay)),
    Context.add(RelayObserver, observer(relay))
  )
})

const observer = (relay: MemoryRelay<Method>) =>
  RelayObserver.of({
    observe: ({ actor, ...options }) =>
      relay.called(
        "observe",
        actor,
        options,
        Effect.gen(function* () {
          const { log } = yield* relay.asMember(actor, options.channelId)
          relay.beginObserving()
          const kinds = options.kinds ?? ChannelHistory.KINDS
          const sightings = Stream.filter(log.stream, ({ event }) => kinds.includes(event.kind))
          const observation: ChannelObservation = {
            events: Stream.map(sightings, ({ event }) => event),
            status: SubscriptionRef.changes(relay.status),
            seen: relay.visible(actor, options.channelId, kinds),
            awaitDone: (done) => awaitDone(sightings, done)
          }
          return observation
        })
      )
  })

const control = (relay: MemoryRelay<Method>) =>
  TestRelay.of({
    calls: Effect.sync(() => [...relay.calls]),
    failNext: (method, reason) => Effect.sync(() => void relay.faults.push({ method, reason })),
    openChannel: (handle) =>
      Effect.map(relay.channelAt(handle.channelId), ({ members }) => {
        members.push({ pubkey: handle.user.identity.pubkey, role: "owner" })
        for (const { identity } of handle.credentials) members.push({ pubkey: identity.pubkey, role: "member" })
        for (const { entry, identity } of handle.directory ?? [])
          if (entry.isChannelMember) members.push({ pubkey: identity.pubkey, role: "member" })
      }),
    say: Effect.fnUntraced(function* (identity, { channelId, content, mentions = [] }) {
      const message = { channelId, content, mentions, parent: undefined }
      const event = yield* relay.sign(identity, (now) => Templates.message(message, now))
      yield* relay.store(channelId, event)
      return event
    }),
    push: (event) =>
      Effect.forEach(tagValues(event, "h"), (channelId) => relay.store(channelId, event), { discard: true }),
    reportStatus: (next) => SubscriptionRef.set(relay.status, next),
    endObservations: (reason) =>
      Effect.forEach(relay.channels.values(), ({ log }) => log.fail(new RelayError({ operation: "observe", reason })), {
        discard: true
      }),
    names: Effect.sync(() => new Map(relay.names)),
    channel: (id) =>
      Effect.sync(() => {
        const channel = relay.channels.get(id)
        return channel === undefined ? "absent" : channel.archived ? "archived" : "open"
      })
  })
