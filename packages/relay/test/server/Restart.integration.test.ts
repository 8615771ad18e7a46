import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { createServer } from "node:http"
import { createConnection } from "node:net"
import * as Identity from "../../src/Identity.ts"
import type { NostrEvent } from "../../src/NostrEvent.ts"
import * as SchnorrWasm from "../../src/SchnorrWasm.ts"
import { EmbeddedRelay, type EmbeddedRelayOptions } from "../../src/server/EmbeddedRelay.ts"
import { RelayStore } from "../../src/server/RelayStore.ts"
import * as SqliteRelayStore from "../../src/server/SqliteRelayStore.ts"
import { connect, open, post, publish, signNow } from "./rawClient.ts"
import type { Draft } from "./support.ts"

const keys = Layer.mergeAll(SchnorrWasm.layer, NodeCrypto.layerSecureRandom)
const over = (store: Layer.Layer<RelayStore, unknown>, options: EmbeddedRelayOptions = {}) =>
  EmbeddedRelay.layerStored(options).pipe(
    Layer.provide(store),
    Layer.provide(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
    Layer.provide(keys)
  )

const channelEvent = (channel: string, kind: number, content = "", ...tags: NonNullable<Draft["tags"]>): Draft => ({
  kind,
  content,
  tags: [["h", channel], ...tags]
})

layer(Layer.merge(keys, NodeServices.layer), { excludeTestServices: true })("EmbeddedRelay, again", (it) => {
  it.effect("goes on where the relay before it stopped: members, messages, threads, deletions and its own key", () =>
    Effect.gen(function* () {
      const directory = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
      const store = SqliteRelayStore.layer(directory).pipe(Layer.provide(NodeServices.layer))
      const [ada, bob, eve] = [yield* Identity.generate, yield* Identity.generate, yield* Identity.generate]
      const options = { closed: { owner: ada.pubkey } }
      const channel = crypto.randomUUID()
      const everything = (url: string) =>
        Effect.map(
          post(url, ada, "/query", [{ kinds: [0, 9, 8000, 13_534, 39_000, 39_002, 40_099] }]),
          ({ body }) => body
        )

      const first = yield* Effect.gen(function* () {
        const { pubkey, url } = yield* EmbeddedRelay
        yield* post(url, ada, "/events", yield* signNow(ada, { kind: 9030, tags: [["p", bob.pubkey]] }))
        const name = [
          ["name", "team"],
          ["visibility", "private"],
          ["channel_type", "stream"]
        ] as const
        yield* publish(url, ada, channelEvent(channel, 9007, "", ...name))
        yield* publish(url, ada, channelEvent(channel, 9000, "", ["p", bob.pubkey]))
        yield* publish(url, ada, { kind: 0, content: '{"name":"Ada"}' })
        const root = yield* publish(url, ada, channelEvent(channel, 9, "root"))
        yield* publish(url, bob, channelEvent(channel, 9, "reply", ["e", root.id, "", "reply"]))
        const gone = yield* publish(url, bob, channelEvent(channel, 9, "gone"))
        yield* publish(url, bob, { kind: 5, tags: [["e", gone.id]] })
        return { pubkey, root, gone, kept: yield* everything(url) }
      }).pipe(Effect.provide(over(store, options)))

      yield* Effect.gen(function* () {
        const { pubkey, url } = yield* EmbeddedRelay
        assert.strictEqual(pubkey, first.pubkey)
        assert.deepStrictEqual(yield* everything(url), first.kept)
        const again = yield* post(url, bob, "/events", first.gone)
        assert.deepStrictEqual(again.body, { event_id: first.gone.id, accepted: true, message: "duplicate:" })
        const thread = yield* post(url, bob, "/query", [{ "#e": [first.root.id], depth_limit: 5, kinds: [9] }])
        assert.deepStrictEqual(
          (thread.body as ReadonlyArray<NostrEvent>).map(({ content }) => content),
          ["reply"]
        )
        yield* publish(url, bob, channelEvent(channel, 9, "still a member"))
        assert.strictEqual((yield* post(url, eve, "/query", [{ kinds: [9] }])).status, 403)
        yield* publish(url, ada, channelEvent(channel, 9002, "", ["name", "renamed"]))
        const state = yield* post(url, ada, "/query", [{ kinds: [39_000], "#d": [channel] }])
        const [renamed, ...others] = state.body as ReadonlyArray<NostrEvent>
        assert.deepStrictEqual(renamed?.tags[1], ["name", "renamed"])
        assert.deepStrictEqual(others, [])
      }).pipe(Effect.provide(over(store, options)))
    }).pipe(Effect.scoped)
  )

  it.effect("is bounded in connections and in what it keeps", () =>
    Effect.gen(function* () {
      const { url } = yield* EmbeddedRelay
      const ada = yield* Identity.generate
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* connect(url, ada)
          yield* (yield* open(url)).next
          const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" }
          const refused = yield* upgraded(url, { ...upgrade, "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==" })
          assert.match(refused, /^HTTP\/1\.1 503 [^]*\{"error":"too many connections"\}/)
        })
      )
      const kept = yield* post(url, ada, "/events", yield* signNow(ada, { kind: 1, content: "x".repeat(2000) }))
      assert.strictEqual(kept.status, 200)
      const refused = yield* post(url, ada, "/events", yield* signNow(ada, { kind: 1, content: "y".repeat(2000) }))
      assert.deepStrictEqual([refused.status, refused.body], [507, { error: "error: the relay is full" }])
      const room = yield* signNow(ada, { kind: 5, tags: [["e", (kept.body as { event_id: string }).event_id]] })
      assert.strictEqual((yield* post(url, ada, "/events", room)).status, 200)
      assert.strictEqual((yield* post(url, ada, "/events", yield* signNow(ada, { kind: 1, content: "z" }))).status, 200)
    }).pipe(Effect.provide(over(RelayStore.layerMemory, { maxConnections: 2, maxStoredBytes: 4000 })))
  )
})

/** The answer to a request over a socket of its own, head and body. */
const upgraded = (url: string, headers: Readonly<Record<string, string>>) =>
  Effect.callback<string>((resume) => {
    const { host, hostname, port } = new URL(url)
    const socket = createConnection(Number(port), hostname)
    const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}`)
    socket.setEncoding("utf8")
    let text = ""
    socket.on("data", (chunk: string) => {
      text += chunk
      if (text.includes("\r\n\r\n") && text.includes("}")) resume(Effect.succeed(text))
    })
    socket.write(`GET / HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`)
    return Effect.sync(() => socket.destroy())
  })
