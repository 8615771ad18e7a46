/**
 * What Buzz Orchestra asks of the program that embeds it, on Node. Each service comes from a subpath of its own: the barrel
 * of `@effect/platform-node` loads Redis, workers and clusters as well.
 */
import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeWS from "@effect/platform-node/NodeWS"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import { Layer } from "effect"
import { createServer } from "node:http"

/** Files. All that the test layers need. */
export const layerFiles = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer)

/** Files, processes, the relay as a client sees it, keys and signatures. */
export const layer = Layer.mergeAll(
  NodeChildProcessSpawner.layer,
  NodeHttpClient.layerUndici,
  NodeWS.layerWebSocketConstructor,
  NodeCrypto.layerSecureRandom,
  SchnorrWasm.layer
).pipe(Layer.provideMerge(layerFiles))

/** A server on a free port of this machine, for the embedded relay. */
export const layerServer = NodeHttpServer.layerServer(createServer, {
  port: 0,
  host: "127.0.0.1",
  gracefulShutdownTimeout: "1 second"
})
