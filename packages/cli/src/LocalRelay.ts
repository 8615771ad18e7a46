/**
 * The embedded relay on a loopback port of this machine. Needs `node:http`.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import { EmbeddedRelay } from "@buzz-orchestra/relay/server/EmbeddedRelay"
import { Effect, Layer } from "effect"
import { createServer } from "node:http"
import { CommandError, RelayNotServed } from "./CommandError.ts"

export { EmbeddedRelay } from "@buzz-orchestra/relay/server/EmbeddedRelay"

/** Everybody has hung up by then; the relay closes its connections before the server closes. */
const SHUTDOWN = "1 second"

/** Serves on 127.0.0.1 until the layer's scope ends. Port 0 is any free one. */
export const layer = (port: number, command: string): Layer.Layer<EmbeddedRelay, CommandError> =>
  EmbeddedRelay.layer().pipe(
    Layer.provide(
      NodeHttpServer.layerServer(createServer, { port, host: "127.0.0.1", gracefulShutdownTimeout: SHUTDOWN })
    ),
    Layer.provide(SchnorrWasm.layer),
    Layer.provide(NodeCrypto.layerSecureRandom),
    Layer.catchTag("ServeError", ({ cause }) => {
      const detail = cause instanceof Error ? cause.message : String(cause)
      return Layer.effect(
        EmbeddedRelay,
        Effect.fail(new CommandError({ command, reason: new RelayNotServed({ port, detail }) }))
      )
    })
  )
