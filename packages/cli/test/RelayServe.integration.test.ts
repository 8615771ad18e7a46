// @module-tag thorough
/** `relay serve` as a process that is killed, and what the next relay over the same directory knows. */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as BuzzClientNative from "@buzz-orchestra/relay/BuzzClientNative"
import { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import * as Identity from "@buzz-orchestra/relay/Identity"
import { Schnorr } from "@buzz-orchestra/relay/Schnorr"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { EmbeddedRelay, layerAt } from "../src/LocalRelay.ts"
import { eventually, start } from "./HarnessProcess.ts"

const SECONDS = 20

const services = BuzzClientNative.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(NodeServices.layer, NodeCrypto.layerSecureRandom, Schnorr.layerPure)),
  Layer.provide(FetchHttpClient.layer)
)

layer(services, { excludeTestServices: true })("relay serve", (it) => {
  it.effect("has after kill -9 what it acknowledged before, and says where else it listens", () =>
    Effect.gen(function* () {
      const client = yield* BuzzClient
      const identity = yield* Identity.generate
      const data = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
      const relay = yield* start(["relay", "serve", "--data", data, "--host", "0.0.0.0"])
      const relayUrl = yield* eventually("the URL", SECONDS, relay, () => /^relay (\S+)$/m.exec(relay.stdout())?.[1])
      assert.include(relay.stdout(), "It listens on 0.0.0.0: whoever reaches this machine can use it, under any key.")
      assert.include(relay.stdout(), `Everything is kept in ${data}.`)
      const channelId = yield* client.createChannel({ relayUrl, identity }, { id: crypto.randomUUID(), name: "team" })
      const { id } = yield* client.send({ relayUrl, identity }, { channelId, content: "kept" })
      relay.kill("SIGKILL")
      yield* relay.ended

      const next = { host: "127.0.0.1", port: 0, urls: () => [], data }
      const messages = yield* EmbeddedRelay.use(({ url }) =>
        client.readChannel({ relayUrl: url, identity }, channelId)
      ).pipe(Effect.provide(layerAt(next, "relay serve")))
      assert.deepStrictEqual(
        messages.map((message) => message.id),
        [id]
      )
    }).pipe(Effect.scoped)
  )
})
