import { assert, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Queue, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { BuzzClient } from "../src/BuzzClient.ts"
import * as BuzzClientNative from "../src/BuzzClientNative.ts"
import * as EventKind from "../src/EventKind.ts"
import { signEvent } from "../src/EventSigning.ts"
import type { Filter } from "../src/Filter.ts"
import type { Identity } from "../src/Identity.ts"
import type { EventTemplate } from "../src/NostrEvent.ts"
import * as RelayConnection from "../src/RelayConnection.ts"
import { Schnorr } from "../src/Schnorr.ts"
import { EmbeddedRelay } from "../src/server/EmbeddedRelay.ts"
import { RelayFaults } from "../src/testing/RelayFaults.ts"
import { testIdentity } from "../src/testing/TestIdentity.ts"
import { bounded, platform, relay, relayWith } from "./support.ts"

const over = <A, E, R>(embedded: Layer.Layer<A, E, R>) =>
  BuzzClientNative.layer.pipe(Layer.provideMerge(embedded), Layer.provideMerge(platform))

const connectAs = (identity: Identity) =>
  Effect.flatMap(EmbeddedRelay, ({ url }) => RelayConnection.open({ url, identity }))

const sign = Effect.fnUntraced(function* (identity: Identity, template: Omit<EventTemplate, "created_at">) {
  const created_at = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  return signEvent(yield* Schnorr, { ...template, created_at }, identity.secretKey)
})

const [ada, bob] = [testIdentity(1), testIdentity(2)]

/** A channel of Ada's with Bob in it. */
const channel = Effect.gen(function* () {
  const client = yield* BuzzClient
  const { url } = yield* EmbeddedRelay
  const id = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
  yield* client.createChannel({ relayUrl: url, identity: ada }, { id, name: "trial" })
  yield* client.addMember({ relayUrl: url, identity: ada }, { channelId: id, pubkey: bob.pubkey, role: "member" })
  return id
})

/** Everything that a subscription brings, as it comes, in short. */
const collect = Effect.fnUntraced(function* (
  connection: RelayConnection.RelayConnection,
  id: string,
  filters: ReadonlyArray<Filter>
) {
  const items = yield* Queue.unbounded<string>()
  yield* connection.subscribe(id, filters).pipe(
    Stream.runForEach((item) => Queue.offer(items, item._tag === "Event" ? `event ${item.event.kind}` : item._tag)),
    Effect.forkScoped
  )
  return { next: (count: number) => bounded(Queue.takeN(items, count)) }
})

it.live("carries messages and ephemeral events between members", () =>
  Effect.gen(function* () {
    const id = yield* channel
    const [mine, theirs] = [yield* connectAs(ada), yield* connectAs(bob)]
    const kinds = [EventKind.Message, EventKind.Typing]
    const inbox = yield* collect(theirs, "inbox", [{ kinds, "#h": [id] }])
    const presence = yield* collect(theirs, "presence", [{ kinds: [EventKind.Presence] }])
    assert.deepStrictEqual(yield* inbox.next(2), ["Requested", "EndOfStored"])
    assert.deepStrictEqual(yield* presence.next(2), ["Requested", "EndOfStored"])
    const tags = [["h", id]] as const
    for (const template of [
      { kind: EventKind.Typing, tags, content: "" },
      { kind: EventKind.Message, tags, content: "hello" },
      { kind: EventKind.Presence, tags: [], content: "online" }
    ]) {
      const result = yield* mine.publish(yield* sign(ada, template))
      assert.deepStrictEqual(result, { accepted: true, message: "" })
    }
    assert.deepStrictEqual(yield* inbox.next(2), ["event 20002", "event 9"])
    assert.deepStrictEqual(yield* presence.next(1), ["event 20001"])
  }).pipe(Effect.scoped, Effect.provide(over(relay)))
)

it.live("asks for a sign of life in a way that the relay answers", () =>
  Effect.gen(function* () {
    const connection = yield* connectAs(ada)
    const nothing = yield* collect(connection, "sign of life", [{ kinds: [9], ids: ["0".repeat(64)], limit: 1 }])
    assert.deepStrictEqual(yield* nothing.next(2), ["Requested", "EndOfStored"])
  }).pipe(Effect.scoped, Effect.provide(over(relay)))
)

it.live("reports a refusal as the relay's answer", () =>
  Effect.gen(function* () {
    const connection = yield* connectAs(ada)
    const event = yield* sign(ada, {
      kind: EventKind.Message,
      tags: [["h", "00000000-0000-4000-8000-000000000000"]],
      content: ""
    })
    const result = yield* connection.publish(event)
    assert.isFalse(result.accepted)
    assert.notStrictEqual(result.message, "")
  }).pipe(Effect.scoped, Effect.provide(over(relay)))
)

it.live("publishes once what was sent twice over a connection that was cut", () =>
  Effect.gen(function* () {
    const id = yield* channel
    const faults = yield* RelayFaults
    const client = yield* BuzzClient
    const { url } = yield* EmbeddedRelay
    const connection = yield* connectAs(ada)
    yield* faults.pauseSending
    const event = yield* sign(ada, { kind: EventKind.Message, tags: [["h", id]], content: "once" })
    const publishing = yield* Effect.forkChild(connection.publish(event), { startImmediately: true })
    const stored = Effect.map(client.readChannel({ relayUrl: url, identity: bob }, id), (events) => events.length)
    yield* bounded(Effect.repeat(stored, { until: (count) => count === 1 }))
    yield* faults.cutConnections
    yield* faults.resumeSending
    const result = yield* bounded(Fiber.join(publishing))
    assert.isTrue(result.accepted)
    assert.strictEqual(yield* stored, 1)
  }).pipe(Effect.scoped, Effect.provide(over(relay)))
)

it.live("is not let into a closed relay without an attestation", () =>
  Effect.gen(function* () {
    const error = yield* Effect.flip(connectAs(bob))
    assert.strictEqual(error.reason._tag, "RelayAuthRefused")
    yield* connectAs(ada)
  }).pipe(Effect.scoped, Effect.provide(over(relayWith({ closed: { owner: ada.pubkey } }))))
)
