import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { BuzzClient } from "../src/BuzzClient.ts"
import * as BuzzClientNative from "../src/BuzzClientNative.ts"
import * as Identity from "../src/Identity.ts"
import { RelayObserver } from "../src/RelayObserver.ts"
import * as RelayObserverLive from "../src/RelayObserverLive.ts"
import { EmbeddedRelay } from "../src/server/EmbeddedRelay.ts"
import { bounded, bridge, freePort, platform, relayWith, takeN } from "./support.ts"

const client = BuzzClientNative.layer.pipe(Layer.provideMerge(platform))
const services = RelayObserverLive.layer.pipe(Layer.provideMerge(client))

/** A private channel of a user with one orchestrator, on a relay that is also reachable over a bridge. */
const channel = Effect.gen(function* () {
  const client = yield* BuzzClient
  const observer = yield* RelayObserver
  const { url } = yield* EmbeddedRelay
  const user = { relayUrl: url, identity: yield* Identity.generate }
  const lead = { relayUrl: url, identity: yield* Identity.generate }
  const id = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
  yield* client.createChannel(user, { id, name: "trial" })
  yield* client.addMember(user, { channelId: id, pubkey: lead.identity.pubkey, role: "member" })
  const say = (content: string) => client.send(lead, { channelId: id, content })
  return { client, observer, user, lead, id, say }
})

const contents = (events: ReadonlyArray<{ readonly content: string }>) => events.map(({ content }) => content)

it.live("loses nothing when the connection drops, and sees every message once", () =>
  Effect.gen(function* () {
    const port = yield* freePort
    yield* Effect.gen(function* () {
      const { client, observer, user, lead, id, say } = yield* channel
      const tunnel = yield* bridge(port, user.relayUrl)
      yield* say("before")
      const observation = yield* bounded(observer.observe({ actor: { ...user, relayUrl: tunnel.url }, channelId: id }))
      assert.deepStrictEqual(contents(yield* observation.seen), ["before"])
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
      assert.deepStrictEqual(all.toSorted(), ["DONE: while nobody looked", "after", "before", "live", "task"])
      assert.strictEqual(all.at(-1), "after")
    }).pipe(Effect.provide(relayWith({ urls: [`ws://127.0.0.1:${port}`] })))
  }).pipe(Effect.scoped, Effect.provide(services))
)

it.live("reads more messages than one page holds", () =>
  Effect.gen(function* () {
    const { observer, user, id, say } = yield* channel
    const sent = Array.from({ length: 1_100 }, (_, index) => `message ${index}`)
    yield* Effect.forEach(sent, say, { concurrency: 8 })
    const observation = yield* bounded(observer.observe({ actor: user, channelId: id }))
    assert.deepStrictEqual(contents(yield* observation.seen).toSorted(), sent.toSorted())
    const all = yield* takeN(observation.events, sent.length)
    assert.strictEqual(new Set(all.map((event) => event.id)).size, sent.length)
  }).pipe(Effect.scoped, Effect.provide(relayWith({}).pipe(Layer.provideMerge(services))))
)
void Stream
