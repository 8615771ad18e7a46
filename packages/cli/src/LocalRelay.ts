/**
 * The embedded relay on a port of this machine. Needs `node:http`.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import { EmbeddedRelay } from "@buzz-orchestra/relay/server/EmbeddedRelay"
import { Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { createServer } from "node:http"
import { CommandError, RelayNotServed } from "./CommandError.ts"

export { EmbeddedRelay } from "@buzz-orchestra/relay/server/EmbeddedRelay"

/** Where it listens, and how it is dialled. */
export interface LocalRelayOptions {
  /** Address of this machine. */
  readonly host: string
  /** 0 is any free one. */
  readonly port: number
  /** URLs under which it is dialled beside its own, `ws://127.0.0.1:<port>`, by the port it has got. */
  readonly urls: (port: number) => ReadonlyArray<string>
}

/** Everybody has hung up by then; the relay closes its connections before the server closes. */
const SHUTDOWN = "1 second"

/** Serves until the layer's scope ends. `command` is the command that serves, as typed. */
export const layerAt = (
  { host, port, urls }: LocalRelayOptions,
  command: string
): Layer.Layer<EmbeddedRelay, CommandError> =>
  Layer.unwrap(
    Effect.map(HttpServer.HttpServer, ({ address }) =>
      EmbeddedRelay.layer({ urls: "port" in address ? urls(address.port) : [] })
    )
  ).pipe(
    Layer.provide(NodeHttpServer.layerServer(createServer, { port, host, gracefulShutdownTimeout: SHUTDOWN })),
    Layer.provide(SchnorrWasm.layer),
    Layer.provide(NodeCrypto.layerSecureRandom),
    Layer.catchTag("ServeError", ({ cause }) => {
      const detail = cause instanceof Error ? cause.message : String(cause)
      return Layer.effect(
        EmbeddedRelay,
        Effect.fail(new CommandError({ command, reason: new RelayNotServed({ host, port, detail }) }))
      )
    })
  )

/** Serves on 127.0.0.1. */
export const layer = (port: number, command: string): Layer.Layer<EmbeddedRelay, CommandError> =>
  layerAt({ host: "127.0.0.1", port, urls: () => [] }, command)
