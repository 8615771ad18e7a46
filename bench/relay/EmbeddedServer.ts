/**
 * Program: the embedded relay, as `relay serve` serves it.
 */
import { createServer } from "node:http"
import { Effect, Layer } from "effect"
import * as SchnorrWasm from "../../packages/relay/src/SchnorrWasm.ts"
import { EmbeddedRelay } from "../../packages/relay/src/server/EmbeddedRelay.ts"
import { NodeCrypto, NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { serves } from "./ServedRelay.ts"

const relay = EmbeddedRelay.layer().pipe(
  Layer.provide(NodeHttpServer.layerServer(createServer, { port: 0, host: "127.0.0.1" })),
  Layer.provide(SchnorrWasm.layer),
  Layer.provide(NodeCrypto.layerSecureRandom)
)

EmbeddedRelay.use(({ url }) => Effect.sync(() => serves(url))).pipe(
  Effect.andThen(Effect.never),
  Effect.provide(relay),
  NodeRuntime.runMain
)
