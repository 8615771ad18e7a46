/** The embedded relay, and servers that are none, looked at as `doctor` looks. */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeWS from "@effect/platform-node/NodeWS"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import { EmbeddedRelay } from "@buzz-orchestra/relay/server/EmbeddedRelay"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { createServer, type Server } from "node:http"
import { checkRelay } from "../../src/doctor/RelayCheck.ts"
import * as LocalRelay from "../../src/LocalRelay.ts"

const services = Layer.mergeAll(
  FetchHttpClient.layer,
  NodeWS.layerWebSocketConstructor,
  NodeCrypto.layerSecureRandom,
  SchnorrWasm.layer
)

/** A web server whose clock is so far from this machine's; its URL. */
const serverWith = (skewMillis: number) =>
  Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const server = createServer((_request, response) => {
        response.setHeader("Date", new Date(Date.now() + skewMillis).toUTCString()).end("hello")
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  ).pipe(
    Effect.map((server) => {
      const address = server.address()
      return `ws://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
    })
  )

describe("a relay", () => {
  it.live("that runs takes a fresh key and has this machine's time", () =>
    Effect.gen(function* () {
      const { url } = yield* EmbeddedRelay
      const findings = yield* checkRelay(url)
      assert.deepStrictEqual(
        findings.map(({ status, topic }) => [topic, status]),
        [
          ["relay", "ok"],
          ["clock", "ok"]
        ]
      )
      assert.include(findings[0]?.detail, `${url} answers in `)
    }).pipe(Effect.provide([services, LocalRelay.layer(0, "doctor")]))
  )

  it.live("that is only a web server is no relay, and its clock is looked at", () =>
    Effect.gen(function* () {
      for (const [skew, words] of [
        [-3_600_000, /^3(600|599) s ahead of the relay's; more than 60 s are refused$/],
        [90_000, /^(90|89) s behind the relay's; more than 60 s are refused$/]
      ] as const) {
        const [relay, clock] = yield* checkRelay(yield* serverWith(skew))
        assert.match(relay?.detail ?? "", /answers over HTTP, but not over WebSocket/)
        assert.strictEqual(clock?.status, "missing")
        assert.match(clock?.detail ?? "", words)
      }
    }).pipe(Effect.scoped, Effect.provide(services))
  )

  it.live("at which nobody listens, and what is no URL, are missing", () =>
    Effect.gen(function* () {
      const url = yield* Effect.scoped(serverWith(0))
      const [closed] = yield* checkRelay(url)
      assert.strictEqual(closed?.status, "missing")
      assert.match(closed?.detail ?? "", /ECONNREFUSED/)
      const [invalid] = yield* checkRelay("localhost")
      assert.match(invalid?.detail ?? "", /is not a relay URL/)
    }).pipe(Effect.provide(services))
  )
})
