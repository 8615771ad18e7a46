/**
 * The relay as an independent client sees it: nostr-tools authenticates, subscribes, publishes and verifies.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeWS from "@effect/platform-node/NodeWS"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { createServer } from "node:http"
import { finalizeEvent, generateSecretKey, getPublicKey, type Event, verifyEvent } from "nostr-tools/pure"
import { Relay, useWebSocketImplementation } from "nostr-tools/relay"
import * as SchnorrWasm from "../../src/SchnorrWasm.ts"
import { EmbeddedRelay } from "../../src/server/EmbeddedRelay.ts"

const relayLayer = EmbeddedRelay.layer().pipe(
  Layer.provide(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
  Layer.provide(Layer.mergeAll(SchnorrWasm.layer, NodeCrypto.layerSecureRandom))
)

layer(relayLayer, { excludeTestServices: true })("EmbeddedRelay with nostr-tools", (it) => {
  it.effect("authenticates, creates a channel, and reads its own and the relay's events", () =>
    Effect.gen(function* () {
      const { pubkey, url } = yield* EmbeddedRelay
      useWebSocketImplementation(NodeWS.WebSocket)
      const secret = generateSecretKey()
      const client = yield* authenticated(url, secret)

      const channel = crypto.randomUUID()
      const now = Math.floor(Date.now() / 1000)
      const publish = (kind: number, tags: Array<Array<string>>, content: string) =>
        Effect.promise(() => client.publish(finalizeEvent({ kind, created_at: now, tags, content }, secret)))
      const tags = [
        ["h", channel],
        ["name", "team"],
        ["visibility", "private"],
        ["channel_type", "stream"]
      ]
      yield* publish(9007, tags, "")
      yield* publish(9, [["h", channel]], "hello")

      const found = [
        ...(yield* stored(client, { kinds: [9], "#h": [channel] })),
        // By `d`: nostr-tools drops what has no `h` tag of its own.
        ...(yield* stored(client, { kinds: [39_000, 39_001, 39_002], "#d": [channel] }))
      ]
      assert.deepStrictEqual(
        found.map(({ kind }) => kind).toSorted((a, b) => a - b),
        [9, 39_000, 39_001, 39_002]
      )
      for (const event of found) {
        assert.isTrue(verifyEvent({ ...event }))
        assert.strictEqual(event.pubkey, event.kind === 9 ? getPublicKey(secret) : pubkey)
      }
    })
  )
})

/** Returns once the relay has accepted the answer to its challenge. */
const authenticated = Effect.fnUntraced(function* (url: string, secret: Uint8Array) {
  const asked = yield* Deferred.make<void>()
  const client = yield* Effect.acquireRelease(
    Effect.sync(() => new Relay(url)),
    (client) => Effect.sync(() => client.close())
  )
  const answer: NonNullable<Relay["onauth"]> = (template) => {
    Deferred.doneUnsafe(asked, Effect.void)
    return Promise.resolve(finalizeEvent(template, secret))
  }
  client.onauth = answer
  yield* Effect.promise(() => client.connect())
  yield* Effect.timeout(Deferred.await(asked), "5 seconds")
  yield* Effect.promise(() => client.auth(answer))
  return client
})

const stored = Effect.fnUntraced(function* (client: Relay, filter: Parameters<Relay["subscribe"]>[0][number]) {
  const found: Array<Event> = []
  const done = yield* Deferred.make<void>()
  const subscription = client.subscribe([filter], {
    onevent: (event) => found.push(event),
    oneose: () => Deferred.doneUnsafe(done, Effect.void)
  })
  yield* Effect.timeout(Deferred.await(done), "5 seconds")
  subscription.close()
  return found
})
