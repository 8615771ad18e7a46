import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Exit, Layer, Scope } from "effect"
import { createServer } from "node:http"
import * as Identity from "../../src/Identity.ts"
import { tagValues } from "../../src/NostrEvent.ts"
import * as SchnorrWasm from "../../src/SchnorrWasm.ts"
import { EmbeddedRelay } from "../../src/server/EmbeddedRelay.ts"
import { RelayFaults } from "../../src/testing/RelayFaults.ts"
import { connect, open, post, publish, signNow } from "./rawClient.ts"
import type { Draft } from "./support.ts"

const keys = Layer.mergeAll(SchnorrWasm.layer, NodeCrypto.layerSecureRandom)
// Left at its default, the server waits twenty seconds for open connections when it stops.
const server = NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })
const relayLayer = EmbeddedRelay.layer().pipe(
  Layer.provideMerge(RelayFaults.layer),
  Layer.provide(server),
  Layer.provideMerge(keys)
)

const tagged = (kind: number, ...tags: NonNullable<Draft["tags"]>): Draft => ({ kind, tags })

/** A private channel of two fresh people. */
const team = Effect.gen(function* () {
  const { url } = yield* EmbeddedRelay
  const [ada, bob] = [yield* Identity.generate, yield* Identity.generate]
  const channel = crypto.randomUUID()
  yield* publish(
    url,
    ada,
    tagged(9007, ["h", channel], ["name", "team"], ["visibility", "private"], ["channel_type", "stream"])
  )
  yield* publish(url, ada, tagged(9000, ["h", channel], ["p", bob.pubkey], ["role", "bot"]))
  const message = (content: string, ...mentions: ReadonlyArray<string>): Draft => ({
    kind: 9,
    content,
    tags: [["h", channel], ...mentions.map((pubkey) => ["p", pubkey] as const)]
  })
  return { url, ada, bob, channel, message }
})

layer(relayLayer, { excludeTestServices: true })("EmbeddedRelay", (it) => {
  it.effect("says what it is, over HTTP on the port of the WebSocket", () =>
    Effect.gen(function* () {
      const relay = yield* EmbeddedRelay
      const http = relay.url.replace(/^ws/, "http")
      assert.match(relay.url, /^ws:\/\/127\.0\.0\.1:\d+$/)
      const get = (path: string) => Effect.promise(() => fetch(http + path).then((r) => r.text()))
      assert.strictEqual(yield* get("/health"), "ok")
      assert.deepStrictEqual(JSON.parse(yield* get("/_readiness")), { status: "ready" })
      for (const path of ["/", "/info"]) {
        const document = JSON.parse(yield* get(path)) as { self: string; supported_nips: ReadonlyArray<number> }
        assert.strictEqual(document.self, relay.pubkey)
        assert.includeMembers([...document.supported_nips], [1, 11, 29, 42])
      }
    })
  )

  it.effect("lets members talk and strangers see nothing", () =>
    Effect.gen(function* () {
      const { ada, bob, channel, message, url } = yield* team
      const eve = yield* Identity.generate
      const event = yield* publish(url, ada, message("hello @bob", bob.pubkey))
      const filters = [{ kinds: [9], "#h": [channel] }]
      assert.deepStrictEqual((yield* post(url, bob, "/query", filters)).body, [event])
      assert.deepStrictEqual((yield* post(url, eve, "/query", filters)).body, [])
      const intruder = yield* signNow(eve, message("let me in"))
      const refused = yield* post(url, eve, "/events", intruder)
      assert.deepStrictEqual([refused.status, refused.body], [400, { error: "restricted: not a channel member" }])
      const spoofed = yield* post(url, eve, "/events", yield* signNow(ada, message("I am Ada")))
      assert.strictEqual(spoofed.status, 403)
      const listener = yield* connect(url, eve)
      yield* listener.send("REQ", "s", ...filters)
      assert.deepStrictEqual(yield* listener.next, ["CLOSED", "s", "restricted: not a channel member"])
    })
  )

  it.effect("replays and then streams, to the mentioned agent as to the observer", () =>
    Effect.gen(function* () {
      const { ada, bob, channel, message, url } = yield* team
      const early = yield* publish(url, ada, message("early", bob.pubkey))
      const observer = yield* connect(url, ada)
      const agent = yield* connect(url, bob)
      yield* observer.send("REQ", "all", { kinds: [9], "#h": [channel] })
      yield* agent.send("REQ", `ch-${channel}`, { kinds: [9], "#h": [channel], "#p": [bob.pubkey], since: 0 })
      for (const [client, id] of [
        [observer, "all"],
        [agent, `ch-${channel}`]
      ] as const) {
        assert.deepStrictEqual(yield* client.next, ["EVENT", id, early])
        assert.deepStrictEqual(yield* client.next, ["EOSE", id])
      }
      const answer = yield* signNow(bob, message("on it"))
      yield* agent.send("EVENT", answer)
      assert.deepStrictEqual(yield* agent.next, ["OK", answer.id, true, ""])
      assert.deepStrictEqual(yield* observer.next, ["EVENT", "all", answer])
    })
  )

  it.effect("has told everybody before it answers: membership can be read, and the notice is there", () =>
    Effect.gen(function* () {
      const { ada, channel, url } = yield* team
      const cid = yield* Identity.generate
      const listener = yield* connect(url, cid)
      yield* listener.send("REQ", "membership-notif", { kinds: [44_100, 44_101], "#p": [cid.pubkey] })
      assert.deepStrictEqual(yield* listener.next, ["EOSE", "membership-notif"])
      yield* publish(url, ada, tagged(9000, ["h", channel], ["p", cid.pubkey]))
      const { body } = yield* post(url, cid, "/query", [{ kinds: [39_002], "#p": [cid.pubkey] }])
      assert.deepStrictEqual(
        (body as ReadonlyArray<{ tags: ReadonlyArray<[string]> }>).map((state) => tagValues(state, "d")),
        [[channel]]
      )
      assert.deepStrictEqual((yield* listener.next).slice(0, 2), ["EVENT", "membership-notif"])
    })
  )

  it.effect("shows every subscriber the same order, each event once, while many publish at once", () =>
    Effect.gen(function* () {
      const { ada, bob, channel, message, url } = yield* team
      const subscriber = Effect.gen(function* () {
        const client = yield* connect(url, ada)
        yield* client.send("REQ", "s", { kinds: [9], "#h": [channel] })
        yield* client.next
        return client
      })
      const [first, second] = [yield* subscriber, yield* subscriber]
      yield* Effect.forEach(
        [ada, bob, ada, bob],
        (author, i) =>
          i < 2
            ? Effect.forEach(Array.from({ length: 10 }), (_, n) => publish(url, author, message(`http ${i} ${n}`)))
            : Effect.gen(function* () {
                const client = yield* connect(url, author)
                for (let n = 0; n < 10; n++)
                  yield* client.send("EVENT", yield* signNow(author, message(`ws ${i} ${n}`)))
              }),
        { concurrency: "unbounded" }
      )
      const read = (client: Effect.Success<typeof subscriber>) =>
        Effect.forEach(Array.from({ length: 40 }), () =>
          Effect.map(client.next, (frame) => (frame[2] as { content: string }).content)
        )
      const order = yield* read(first)
      assert.deepStrictEqual(yield* read(second), order)
      assert.strictEqual(new Set(order).size, 40)
    }).pipe(Effect.scoped)
  )

  it.effect("takes binary frames as text, asks for a sign of life at once, and gives one", () =>
    Effect.gen(function* () {
      const { ada, url } = yield* team
      const client = yield* connect(url, ada)
      yield* client.pinged
      client.ws.send(new TextEncoder().encode('["REQ","s",{"kinds":[9],"limit":0}]'))
      assert.deepStrictEqual(yield* client.next, ["EOSE", "s"])
      yield* Effect.timeout(
        Effect.callback<void>((resume) => {
          client.ws.once("pong", () => resume(Effect.void))
          client.ws.ping()
        }),
        "5 seconds"
      )
    })
  )

  it.effect("ends a connection that sends a frame over 64 KiB, and answers 413 to a body over 1 MiB", () =>
    Effect.gen(function* () {
      const { ada, message, url } = yield* team
      const client = yield* connect(url, ada)
      const largest = yield* signNow(ada, message("x".repeat(65_000)))
      yield* client.send("EVENT", largest)
      assert.deepStrictEqual(yield* client.next, ["OK", largest.id, true, ""])
      yield* client.send("EVENT", yield* signNow(ada, message("x".repeat(65_536))))
      assert.strictEqual(yield* client.closed, 1006)
      assert.deepStrictEqual(yield* client.rest, [])
      const long = yield* signNow(ada, message("x".repeat(200_000)))
      assert.strictEqual((yield* post(url, ada, "/events", long)).status, 200)
      assert.strictEqual((yield* post(url, ada, "/events", "x".repeat(1_048_576))).status, 413)
    })
  )

  it.effect("makes a client wait that asks faster than it reads", () =>
    Effect.gen(function* () {
      const { ada, channel, message, url } = yield* team
      yield* publish(url, ada, message("x".repeat(40_000)))
      const client = yield* connect(url, ada)
      client.ws.pause()
      // 600 answers of 40 kB: more than the system's buffers, the relay's megabyte and half an outbox.
      for (let i = 0; i < 600; i++) yield* client.send("REQ", `s${i % 10}`, { kinds: [9], "#h": [channel] })
      for (let i = 0; i < 20; i++) yield* post(url, ada, "/query", [])
      client.ws.resume()
      for (let i = 0; i < 600; i++)
        for (const verb of ["EVENT", "EOSE"])
          assert.deepStrictEqual((yield* client.next).slice(0, 2), [verb, `s${i % 10}`])
    })
  )

  it.effect("waits for a reader that pauses, and drops one that has stopped, while others are served", () =>
    Effect.gen(function* () {
      const { ada, bob, channel, message, url } = yield* team
      const slow = yield* connect(url, bob)
      const quick = yield* connect(url, ada)
      // Many subscriptions turn one event into many frames for the slow one.
      for (let i = 0; i < 100; i++) yield* slow.send("REQ", `s${i}`, { kinds: [9], "#h": [channel] })
      for (let i = 0; i < 100; i++) yield* slow.next
      yield* quick.send("REQ", "q", { kinds: [9], "#h": [channel] })
      yield* quick.next
      const publishMany = (count: number) =>
        Effect.forEach(
          Array.from({ length: count }, (_, i) => i),
          Effect.fnUntraced(function* (i) {
            const event = yield* publish(url, ada, message(`${i} of ${count} ${"x".repeat(40_000)}`))
            assert.deepStrictEqual(yield* quick.next, ["EVENT", "q", event])
          }),
          { discard: true }
        )

      slow.ws.pause()
      yield* publishMany(5)
      slow.ws.resume()
      for (let i = 0; i < 500; i++) assert.strictEqual((yield* slow.next)[0], "EVENT")

      slow.ws.pause()
      // 1200 frames of 40 kB: more than the system's buffers, the relay's megabyte and an outbox.
      yield* publishMany(12)
      slow.ws.resume()
      assert.strictEqual(yield* slow.closed, 1006)
      assert.isBelow((yield* slow.rest).length, 1200)
    })
  )
})

layer(keys, { excludeTestServices: true })("EmbeddedRelay, stopping", (it) => {
  it.effect("is gone at once, with a farewell to those who listen and none to those who do not", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(
        Layer.provide(EmbeddedRelay.layer(), Layer.merge(server, keys)),
        scope
      )
      const { url } = yield* Effect.provide(EmbeddedRelay, context)
      const ada = yield* Identity.generate
      const listening = [yield* connect(url, ada), yield* open(url)]
      const deaf = yield* connect(url, ada)
      deaf.ws.pause()
      yield* post(url, ada, "/query", [])
      const before = yield* Clock.currentTimeMillis
      yield* Scope.close(scope, Exit.void)
      const took = (yield* Clock.currentTimeMillis) - before
      assert.isBelow(took, 500)
      for (const client of listening) assert.strictEqual(yield* client.closed, 1001)
      const refused = yield* Effect.result(Effect.tryPromise(() => fetch(url.replace(/^ws/, "http"))))
      assert.strictEqual(refused._tag, "Failure")
    })
  )
})
