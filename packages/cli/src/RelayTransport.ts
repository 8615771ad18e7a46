/**
 * HTTP and WebSocket to one relay: by its route, with its certificates. Needs `node:tls` for those of the system, undici and
 * `ws`, because no other client lets `Host` be another than the address.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeWS from "@effect/platform-node/NodeWS"
import { RelayError } from "@buzz-orchestra/relay/RelayError"
import * as RelayRoute from "@buzz-orchestra/relay/RelayRoute"
import { Effect, FileSystem, Layer } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { Socket } from "effect/socket"
import { rootCertificates } from "node:tls"
import { CommandError, RelayCertificatesUnreadable } from "./CommandError.ts"
import type { RelayOptions } from "./RelayOptions.ts"

/** Fails when the certificates cannot be read, or the address is none of a relay. `command` is the command as typed. */
export const layer = (
  command: string,
  relayUrl: string | undefined,
  { caFile, dialUrl }: RelayOptions
): Layer.Layer<Transport, CommandError | RelayError, FileSystem.FileSystem> => {
  if (relayUrl === undefined || (caFile ?? dialUrl) === undefined) {
    return Layer.merge(FetchHttpClient.layer, NodeWS.layerWebSocketConstructor)
  }
  const direct = Layer.unwrap(Effect.map(certificates(command, caFile), transport))
  if (dialUrl === undefined) return direct
  return RelayRoute.layer({ relayUrl, dialUrl }).pipe(
    Layer.provide(direct),
    Layer.catchTag("RelayUrlInvalid", (reason): Layer.Layer<Transport, RelayError> =>
      Layer.unwrap(Effect.fail(new RelayError({ operation: "--relay-dial", reason })))
    )
  )
}

type Transport = HttpClient.HttpClient | Socket.WebSocketConstructor

const certificates = Effect.fnUntraced(function* (command: string, file: string | undefined) {
  if (file === undefined) return undefined
  const fs = yield* FileSystem.FileSystem
  const unreadable = (detail: string) =>
    new CommandError({ command, reason: new RelayCertificatesUnreadable({ file, detail }) })
  const pem = yield* Effect.mapError(fs.readFileString(file), ({ message }) => unreadable(message))
  if (!pem.includes("-----BEGIN CERTIFICATE-----")) return yield* unreadable("there is no certificate in it")
  return [...rootCertificates, pem]
})

const transport = (ca: ReadonlyArray<string> | undefined) => {
  const tls = ca === undefined ? {} : { ca: [...ca] }
  return Layer.merge(
    NodeHttpClient.layerUndiciOptions({ connect: tls }),
    Layer.succeed(Socket.WebSocketConstructor)((url, options) => {
      const { headers = {}, protocols }: Socket.WebSocketClientOptions =
        typeof options === "string" || Array.isArray(options) ? { protocols: options } : (options ?? {})
      const { host } = headers
      // The certificate must be of the name that is presented, wherever the connection goes.
      const servername = host === undefined ? {} : { servername: host.replace(/:\d+$/, "") }
      return new NodeWS.WebSocket(url, protocols, { headers, ...tls, ...servername })
    })
  )
}
