import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { HttpClient } from "effect/http"
import { SecureRandom } from "effect/crypto"
import { Socket } from "effect/socket"
import { BuzzClient } from "../src/BuzzClient.ts"
import * as BuzzClientNative from "../src/BuzzClientNative.ts"
import { tagValues } from "../src/NostrEvent.ts"
import * as RelayConnection from "../src/RelayConnection.ts"
import * as RelayRoute from "../src/RelayRoute.ts"
import { Schnorr } from "../src/Schnorr.ts"
import { testIdentity } from "../src/testing/TestIdentity.ts"
import { authOf, lastOf, ok, scripted } from "./ScriptedHttp.ts"
import { dialled, ScriptedSockets } from "./ScriptedSockets.ts"

const route = { relayUrl: "wss://team.relay.example", dialUrl: "ws://127.0.0.1:3600" }
const actor = { relayUrl: route.relayUrl, identity: testIdentity(1) }

describe("RelayRoute", () => {
  it("changes the address of both views of its relay, and of no other", () => {
    const redirect = Result.getOrThrow(RelayRoute.redirect(route))
    const host = "team.relay.example"
    assert.deepStrictEqual(redirect("https://team.relay.example/query"), { url: "http://127.0.0.1:3600/query", host })
    assert.deepStrictEqual(redirect("wss://team.relay.example"), { url: "ws://127.0.0.1:3600", host })
    for (const other of ["wss://team.relay.example.org", "https://other.relay.example/query", "not a url"]) {
      assert.isUndefined(redirect(other))
    }
    assert.isTrue(Result.isFailure(RelayRoute.redirect({ ...route, dialUrl: "tcp://127.0.0.1:3600" })))
  })

  it.effect("presents and signs the name over HTTP, and dials the address", () => {
    const { layer, seen } = scripted(() => ok([]))
    return Effect.gen(function* () {
      const client = yield* BuzzClient
      yield* client.members(actor, "11111111-1111-4111-8111-111111111111")
      const request = lastOf(seen)
      assert.strictEqual(request.url, "http://127.0.0.1:3600/query")
      assert.strictEqual(request.headers["host"], "team.relay.example")
      assert.deepStrictEqual(tagValues(authOf(request), "u"), ["https://team.relay.example/query"])
    }).pipe(
      Effect.provide(
        BuzzClientNative.layer.pipe(
          Layer.provide(RelayRoute.layer(route)),
          Layer.provide([layer, ScriptedSockets.layer, Schnorr.layerPure, SecureRandom.layerWebCrypto])
        )
      )
    )
  })

  it.effect("presents and signs the name over WebSocket, and dials the address", () =>
    Effect.gen(function* () {
      yield* Effect.forkScoped(RelayConnection.open({ url: actor.relayUrl, identity: actor.identity }))
      const socket = yield* dialled
      assert.strictEqual(socket.url, "ws://127.0.0.1:3600")
      assert.deepStrictEqual(socket.options, { headers: { host: "team.relay.example" } })
      const { tags } = yield* socket.authenticate
      assert.deepInclude(tags, ["relay", "wss://team.relay.example"])
    }).pipe(
      Effect.scoped,
      Effect.provide(
        RelayRoute.layer(route).pipe(
          Layer.provideMerge(ScriptedSockets.layer),
          Layer.provideMerge(Layer.merge(scripted(() => ok([])).layer, Schnorr.layerPure))
        )
      )
    )
  )

  it.effect("leaves another relay's connections and protocols alone", () =>
    Effect.gen(function* () {
      const dial = yield* Socket.WebSocketConstructor
      dial("ws://elsewhere", "nostr")
      dial("wss://team.relay.example", "nostr")
      const [other, routed] = [yield* dialled, yield* dialled]
      assert.deepStrictEqual([other.url, other.options], ["ws://elsewhere", "nostr"])
      assert.deepStrictEqual(routed.options, { protocols: "nostr", headers: { host: "team.relay.example" } })
      assert.isDefined(yield* HttpClient.HttpClient)
    }).pipe(
      Effect.provide(
        RelayRoute.layer(route).pipe(
          Layer.provideMerge(ScriptedSockets.layer),
          Layer.provide(scripted(() => ok([])).layer)
        )
      )
    )
  )
})
