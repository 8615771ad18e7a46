import { assert, it } from "@effect/vitest"
import { Clock, Duration, Effect, Exit, Fiber, Layer, Scope, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { BuzzClient } from "../src/BuzzClient.ts"
import * as BuzzClientNative from "../src/BuzzClientNative.ts"
import * as ChannelHistory from "../src/ChannelHistory.ts"
import { signEvent } from "../src/EventSigning.ts"
import * as RelayConnection from "../src/RelayConnection.ts"
import { RelayObserver } from "../src/RelayObserver.ts"
import * as RelayObserverLive from "../src/RelayObserverLive.ts"
import { Schnorr } from "../src/Schnorr.ts"
import { EmbeddedRelay } from "../src/server/EmbeddedRelay.ts"
import { RelayFaults } from "../src/testing/RelayFaults.ts"
import { testIdentity } from "../src/testing/TestIdentity.ts"
import * as RelayObserverSuite from "./suites/RelayObserverSuite.ts"
import { bounded, bridge, freePort, platform, relay, relayWith, takeN } from "./support.ts"

const over = <A, E, R>(embedded: Layer.Layer<A, E, R>) =>
  RelayObserverLive.layer.pipe(
    Layer.provideMerge(BuzzClientNative.layer),
    Layer.provideMerge(embedded),
    Layer.provideMerge(platform)
  )
const relayUrl = EmbeddedRelay.useSync(({ url }) => url)

RelayObserverSuite.suite("the embedded relay", over(relay), relayUrl)

/** A private channel of a user with one orchestrator. */
const channel = Effect.gen(function* () {
  const client = yield* BuzzClient
  const observer = yield* RelayObserver
  const url = yield* relayUrl
  const user = { relayUrl: url, identity: testIdentity(1) }
  const lead = { relayUrl: url, identity: testIdentity(2) }
  const id = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
  yield* client.createChannel(user, { id, name: "trial" })
  yield* client.addMember(user, { channelId: id, pubkey: lead.identity.pubkey, role: "member" })
  const say = (content: string) => client.send(lead, { channelId: id, content })
  return { client, observer, user, lead, id, say }
})

const contents = (events: ReadonlyArray<{ readonly content: string }>) => events.map(({ content }) => content)

it.live("loses nothing while the relay cannot be reached, and sees every message once", () =>
  Effect.gen(function* () {
    const port = yield* freePort
    yield* Effect.gen(function* () {
      const { client, observer, user, lead, id, say } = yield* channel
      const tunnel = yield* bridge(port, user.relayUrl)
      yield* say("before")
      const actor = { ...user, relayUrl: tunnel.url }
      const observation = yield* bounded(observer.observe({ actor, channelId: id }))
      yield* say("live")
      assert.deepStrictEqual(contents(yield* takeN(observation.events, 2)), ["before", "live"])

      yield* tunnel.down
      const task = yield* client.send(user, { channelId: id, content: "task", mentions: [lead.identity.pubkey] })
      yield* say("DONE: while nobody looked")
      const done = yield* Effect.forkChild(
        observation.awaitDone({ orchestrator: lead.identity.pubkey, after: task.id })
      )
      yield* tunnel.up
      assert.strictEqual((yield* bounded(Fiber.join(done))).content, "DONE: while nobody looked")

      yield* say("after")
      const all = contents(yield* takeN(observation.events, 5))
      assert.sameMembers(all.slice(2, 4), ["task", "DONE: while nobody looked"])
      assert.deepStrictEqual([...all.slice(0, 2), all.at(-1)], ["before", "live", "after"])
    }).pipe(Effect.provide(over(relayWith({ urls: [`ws://127.0.0.1:${port}`] }))))
  }).pipe(Effect.scoped)
)

it.live("keeps every message of many talkers while connections are cut again and again", () =>
  Effect.gen(function* () {
    const { observer, user, id, say } = yield* channel
    const faults = yield* RelayFaults
    const observation = yield* bounded(observer.observe({ actor: user, channelId: id }))
    yield* faults.answerNext(2, { status: 503, path: "/query" })
    const sent = Array.from({ length: 120 }, (_, index) => `message ${index}`)
    yield* Effect.forEach(
      sent,
      (content, index) => Effect.andThen(say(content), index % 15 === 0 ? faults.cutConnections : Effect.void),
      { concurrency: 4 }
    )
    assert.sameMembers(contents(yield* takeN(observation.events, sent.length)), sent)
    yield* say("last")
    yield* takeN(observation.events, sent.length + 1)
    assert.strictEqual((yield* observation.seen).length, sent.length + 1)
  }).pipe(Effect.scoped, Effect.provide(over(relay)))
)

it.live("reads a history of more than a page, all of one second", () =>
  Effect.gen(function* () {
    const { observer, user, lead, id } = yield* channel
    const schnorr = yield* Schnorr
    const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const sent = Array.from({ length: ChannelHistory.PAGE_SIZE + 20 }, (_, index) => `message ${index}`)
    const connection = yield* RelayConnection.open({ url: lead.relayUrl, identity: lead.identity })
    yield* Effect.forEach(
      sent,
      Effect.fnUntraced(function* (content) {
        const template = { kind: 9, created_at: now, tags: [["h", id]] as const, content }
        const result = yield* connection.publish(signEvent(schnorr, template, lead.identity.secretKey))
        assert.deepStrictEqual(result, { accepted: true, message: "" })
      }),
      { concurrency: 50 }
    )
    const observation = yield* bounded(observer.observe({ actor: user, channelId: id }))
    assert.sameMembers(contents(yield* observation.seen), sent)
  }).pipe(Effect.scoped, Effect.provide(over(relay)))
)

it.live("does not hold up the end of its scope while the relay is away", () =>
  Effect.gen(function* () {
    const port = yield* freePort
    yield* Effect.gen(function* () {
      const { observer, user, id } = yield* channel
      const tunnel = yield* bridge(port, user.relayUrl)
      const actor = { ...user, relayUrl: tunnel.url }
      const scope = yield* Scope.make()
      const observation = yield* bounded(Scope.provide(observer.observe({ actor, channelId: id }), scope))
      yield* tunnel.down
      const lost = Stream.filter(observation.status, ({ _tag }) => _tag === "Reconnecting")
      yield* bounded(Stream.runDrain(Stream.take(lost, 1)))
      const [elapsed] = yield* Effect.timed(bounded(Scope.close(scope, Exit.void)))
      assert.isBelow(Duration.toMillis(elapsed), 1_000)
    }).pipe(Effect.provide(over(relayWith({ urls: [`ws://127.0.0.1:${port}`] }))))
  }).pipe(Effect.scoped)
)
