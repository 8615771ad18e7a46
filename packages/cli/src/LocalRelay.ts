/**
 * The embedded relay on a port of this machine. Needs `node:http`.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import {
  EmbeddedRelay,
  type EmbeddedRelayOptions,
  MAX_COLLECTED_FRAME_BYTES
} from "@buzz-orchestra/relay/server/EmbeddedRelay"
import { RelayStore, type RelayStoreError } from "@buzz-orchestra/relay/server/RelayStore"
import { Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { createServer } from "node:http"
import { CommandError, type CommandReason, RelayDataUnusable, RelayNotServed } from "./CommandError.ts"

export { EmbeddedRelay } from "@buzz-orchestra/relay/server/EmbeddedRelay"

/** Where it listens, and how it is dialled. */
export interface LocalRelayOptions {
  /** Address of this machine. */
  readonly host: string
  /** 0 is any free one. */
  readonly port: number
  /** URLs under which it is dialled beside its own, `ws://127.0.0.1:<port>`, by the port it has got. */
  readonly urls: (port: number) => ReadonlyArray<string>
  /** Directory in which it keeps what it knows; without one it forgets everything. */
  readonly data?: string | undefined
  /** What else it is, but for its URLs. */
  readonly relay?: Omit<EmbeddedRelayOptions, "urls">
}

/** Everybody has hung up by then; the relay closes its connections before the server closes. */
const SHUTDOWN = "1 second"

/** Serves until the layer's scope ends. `command` is the command that serves, as typed. */
export const layerAt = (
  { data, host, port, relay, urls }: LocalRelayOptions,
  command: string
): Layer.Layer<EmbeddedRelay, CommandError> =>
  Layer.unwrap(
    Effect.map(HttpServer.HttpServer, ({ address }) =>
      EmbeddedRelay.layerStored({ ...relay, urls: "port" in address ? urls(address.port) : [] })
    )
  ).pipe(
    Layer.provide(
      NodeHttpServer.layerServer(createServer, {
        port,
        host,
        gracefulShutdownTimeout: SHUTDOWN,
        websocket: { maxPayload: MAX_COLLECTED_FRAME_BYTES }
      })
    ),
    Layer.provide(store(data)),
    Layer.provide(SchnorrWasm.layer),
    Layer.provide(NodeCrypto.layerSecureRandom),
    Layer.catchTag("ServeError", ({ cause }) => {
      const detail = cause instanceof Error ? cause.message : String(cause)
      return refused(command, new RelayNotServed({ host, port, detail }))
    }),
    Layer.catchTag("RelayStoreError", ({ detail, directory }) =>
      refused(command, new RelayDataUnusable({ directory, detail }))
    )
  )

const refused = (command: string, reason: CommandReason): Layer.Layer<EmbeddedRelay, CommandError> =>
  Layer.effect(EmbeddedRelay, Effect.fail(new CommandError({ command, reason })))

const store = (directory: string | undefined): Layer.Layer<RelayStore, RelayStoreError> =>
  directory === undefined
    ? RelayStore.layerMemory
    : // Loaded only here: before Node 24 the database warns of itself when it is.
      Layer.unwrap(
        Effect.map(
          Effect.promise(() => import("@buzz-orchestra/relay/server/SqliteRelayStore")),
          (SqliteRelayStore) => SqliteRelayStore.layer(directory)
        )
      ).pipe(Layer.provide(NodeServices.layer))

/** Serves on 127.0.0.1. */
export const layer = (port: number, command: string): Layer.Layer<EmbeddedRelay, CommandError> =>
  layerAt({ host: "127.0.0.1", port, urls: () => [] }, command)
