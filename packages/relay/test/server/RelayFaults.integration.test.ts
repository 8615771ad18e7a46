import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { createServer } from "node:http"
import * as Identity from "../../src/Identity.ts"
import * as SchnorrWasm from "../../src/SchnorrWasm.ts"
import { EmbeddedRelay } from "../../src/server/EmbeddedRelay.ts"
import { RelayFaults } from "../../src/testing/RelayFaults.ts"
import { connect, open, post } from "./rawClient.ts"

const relayLayer = EmbeddedRelay.layer().pipe(
  Layer.provideMerge(RelayFaults.layer),
  Layer.provide(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
  Layer.provideMerge(Layer.mergeAll(SchnorrWasm.layer, NodeCrypto.layerSecureRandom))
)

layer(relayLayer, { excludeTestServices: true })("RelayFaults", (it) => {
  it.effect("answers the next requests to a path as asked, and then as usual", () =>
    Effect.gen(function* () {
      const { url } = yield* EmbeddedRelay
      const faults = yield* RelayFaults
      const ada = yield* Identity.generate
      yield* faults.answerNext(2, { status: 503, path: "/query" })
      yield* faults.answerNext(1, { status: 429, path: "/count", retryAfterSeconds: 7 })
      const limited = yield* post(url, ada, "/count", [])
      assert.deepStrictEqual([limited.status, limited.retryAfter], [429, "7"])
      const statuses = yield* Effect.forEach([1, 2, 3], () => post(url, ada, "/query", []))
      assert.deepStrictEqual(
        statuses.map(({ status }) => status),
        [503, 503, 200]
      )
      assert.strictEqual(yield* faults.remaining, 0)
    })
  )

  it.effect("refuses an upgrade", () =>
    Effect.gen(function* () {
      const { url } = yield* EmbeddedRelay
      const faults = yield* RelayFaults
      yield* faults.answerNext(1, { status: 503, path: "/" })
      const refused = yield* open(url)
      assert.strictEqual(yield* refused.closed, 1006)
      assert.deepStrictEqual(yield* refused.rest, [])
      yield* connect(url, yield* Identity.generate)
    })
  )

  it.effect("cuts open sockets and serves new ones", () =>
    Effect.gen(function* () {
      const { url } = yield* EmbeddedRelay
      const faults = yield* RelayFaults
      const ada = yield* Identity.generate
      const before = yield* connect(url, ada)
      yield* faults.cutConnections
      assert.strictEqual(yield* before.closed, 1006)
      const after = yield* connect(url, ada)
      yield* after.send("REQ", "s", { kinds: [9], limit: 0 })
      assert.deepStrictEqual(yield* after.next, ["EOSE", "s"])
    })
  )

  it.effect("falls silent with its sockets open, and goes on where it was", () =>
    Effect.gen(function* () {
      const { url } = yield* EmbeddedRelay
      const faults = yield* RelayFaults
      const ada = yield* Identity.generate
      const client = yield* connect(url, ada)
      yield* faults.pauseSending
      yield* client.send("REQ", "s", { kinds: [9], limit: 0 })
      // The relay still answers HTTP, so the subscription has had its chance to be answered.
      yield* post(url, ada, "/query", [])
      assert.deepStrictEqual(yield* client.rest, [])
      yield* faults.resumeSending
      assert.deepStrictEqual(yield* client.next, ["EOSE", "s"])
    })
  )
})
