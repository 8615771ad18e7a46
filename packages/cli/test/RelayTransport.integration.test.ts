/** A relay that is bound to its name, behind TLS of an authority of its own, dialled by address. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import * as BuzzClientNative from "@buzz-orchestra/relay/BuzzClientNative"
import * as RelayConnection from "@buzz-orchestra/relay/RelayConnection"
import * as RetryPolicy from "@buzz-orchestra/relay/RetryPolicy"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import { EmbeddedRelay } from "@buzz-orchestra/relay/server/EmbeddedRelay"
import { testIdentity } from "@buzz-orchestra/relay/testing/TestIdentity"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { readFileSync } from "node:fs"
import { createServer as createPlain } from "node:http"
import { createServer } from "node:https"
import { fileURLToPath } from "node:url"
import type { RelayOptions } from "../src/RelayOptions.ts"
import * as RelayTransport from "../src/RelayTransport.ts"

const file = (name: string) => fileURLToPath(new URL(`fixtures/tls/${name}`, import.meta.url))
const platform = Layer.mergeAll(NodeServices.layer, SchnorrWasm.layerStrict, SecureRandom.layerWebCrypto)
const actor = (relayUrl: string) => ({ relayUrl, identity: testIdentity(1) })
const CHANNEL = "11111111-1111-4111-8111-111111111111"

const secure = EmbeddedRelay.layer({ urls: ["wss://team.relay.test"], hostBound: true }).pipe(
  Layer.provide(
    NodeHttpServer.layer(
      () => createServer({ key: readFileSync(file("relay.key")), cert: readFileSync(file("relay.pem")) }),
      { port: 0, host: "127.0.0.1" }
    )
  ),
  Layer.provideMerge(platform)
)
const plain = EmbeddedRelay.layer({ urls: ["ws://team.relay.test:3600"], hostBound: true }).pipe(
  Layer.provide(NodeHttpServer.layer(createPlain, { port: 0, host: "127.0.0.1" })),
  Layer.provideMerge(platform)
)
const portOf = EmbeddedRelay.useSync(({ url }) => new URL(url).port)

/** Whether the relay takes us, over HTTP and over WebSocket. */
const spoken = (relayUrl: string, options: RelayOptions) =>
  Effect.gen(function* () {
    const client = yield* BuzzClient
    yield* client.createChannel(actor(relayUrl), { id: CHANNEL, name: "trial" })
    yield* Effect.scoped(RelayConnection.open({ url: relayUrl, identity: testIdentity(1) }))
    return yield* client.members(actor(relayUrl), CHANNEL)
  }).pipe(
    Effect.timeout("10 seconds"),
    Effect.provide(
      BuzzClientNative.layerWith({ retry: RetryPolicy.never }).pipe(
        Layer.provideMerge(RelayTransport.layer("run", relayUrl, options))
      )
    )
  )

describe("a relay behind TLS", () => {
  it.live("is reached at another address by its name, with the certificates that are given, and not otherwise", () =>
    Effect.gen(function* () {
      const dialUrl = `wss://127.0.0.1:${yield* portOf}`
      const caFile = file("ca.pem")
      assert.lengthOf(yield* spoken("wss://team.relay.test", { dialUrl, caFile }), 1)
      const untrusted = yield* Effect.flip(spoken("wss://team.relay.test", { dialUrl }))
      assert.match(untrusted.message, /certificate/)
      const misnamed = yield* Effect.flip(spoken("wss://other.relay.test", { dialUrl, caFile }))
      assert.match(misnamed.message, /certificate|altnames/)
    }).pipe(Effect.provide(secure))
  )
})

describe("a relay that is bound to its name", () => {
  it.live("takes who calls it so wherever it is dialled, and nobody else", () =>
    Effect.gen(function* () {
      const address = `ws://127.0.0.1:${yield* portOf}`
      assert.lengthOf(yield* spoken("ws://team.relay.test:3600", { dialUrl: address }), 1)
      const byAddress = yield* Effect.flip(spoken(address, {}))
      assert.include(
        ["RelayAuthRefused", "RelayRefused"],
        "reason" in byAddress ? byAddress.reason._tag : byAddress._tag
      )
    }).pipe(Effect.provide(plain))
  )
})

describe("the options of a relay", () => {
  const refused = (options: RelayOptions) =>
    Effect.flip(Effect.scoped(Layer.build(RelayTransport.layer("run", "wss://team.relay.test", options)))).pipe(
      Effect.map((error) => error.reason),
      Effect.provide(NodeServices.layer)
    )

  it.live("that name no certificates are refused: RelayCertificatesUnreadable", () =>
    Effect.gen(function* () {
      for (const caFile of [file("absent.pem"), file("README.md")]) {
        assert.deepInclude(yield* refused({ caFile }), { _tag: "RelayCertificatesUnreadable", file: caFile })
      }
    })
  )

  it.live("that name no relay's address are refused", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* refused({ dialUrl: "127.0.0.1:3600" }))._tag, "RelayUrlInvalid")
    })
  )
})
