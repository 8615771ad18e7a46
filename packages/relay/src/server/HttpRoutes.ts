/**
 * The relay's routes: the bridge, the WebSocket on `/`, the relay's document and its health.
 */
import { ByteSize, Effect, Layer } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type * as Bridge from "./Bridge.ts"
import { Faults } from "./Faults.ts"
import * as RelayDocument from "./RelayDocument.ts"
import type { RelayHub } from "./RelayHub.ts"
import * as WebSocketSession from "./WebSocketSession.ts"

/** A longer body is answered with 413. */
export const MAX_BODY = ByteSize.mebibytes(1)

/** Adds all routes to the router. `pubkey` is the relay's own key. */
export const layer = (hub: RelayHub, pubkey: string) => {
  const document = HttpServerResponse.jsonUnsafe(RelayDocument.make(pubkey), {
    contentType: "application/nostr+json"
  })
  return Layer.mergeAll(
    HttpRouter.add("GET", "/", root(hub, document)),
    HttpRouter.add("GET", "/info", document),
    HttpRouter.add("GET", "/health", HttpServerResponse.text("ok")),
    HttpRouter.add("GET", "/_liveness", HttpServerResponse.text("ok")),
    HttpRouter.add("GET", "/_readiness", HttpServerResponse.jsonUnsafe({ status: "ready" })),
    bridge(hub, "/events"),
    bridge(hub, "/query"),
    bridge(hub, "/count")
  )
}

const root = (hub: RelayHub, document: HttpServerResponse.HttpServerResponse) =>
  orFault("/", (request) =>
    request.headers["upgrade"]?.toLowerCase() === "websocket"
      ? Effect.as(WebSocketSession.serve(request, hub), HttpServerResponse.empty())
      : Effect.succeed(document)
  )

const bridge = (hub: RelayHub, path: Bridge.Path) =>
  HttpRouter.add(
    "POST",
    path,
    orFault(path, (request) =>
      request.arrayBuffer.pipe(
        Effect.provideService(HttpIncomingMessage.MaxBodySize, MAX_BODY),
        Effect.flatMap((body) =>
          hub.answer({
            path,
            authorization: request.headers["authorization"],
            authTag: request.headers["x-auth-tag"],
            body: new Uint8Array(body)
          })
        ),
        Effect.map(({ body, status }) => HttpServerResponse.jsonUnsafe(body, { status })),
        Effect.catchReason("HttpServerError", "RequestParseError", ({ reason }) =>
          Effect.succeed(
            reason === "BodyTooLarge"
              ? HttpServerResponse.text("length limit exceeded", { status: 413 })
              : HttpServerResponse.empty({ status: 400 })
          )
        )
      )
    )
  )

/** Puts trouble that was asked for in the place of the real answer. */
const orFault =
  <E, R>(
    path: string,
    handle: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ) =>
  (request: HttpServerRequest.HttpServerRequest) =>
    Effect.gen(function* () {
      const { httpFault } = yield* Faults
      const fault = yield* httpFault(path)
      if (fault === undefined) return yield* handle(request)
      return HttpServerResponse.jsonUnsafe(
        { error: `fault injected: ${fault.status}` },
        {
          status: fault.status,
          headers: fault.retryAfterSeconds === undefined ? {} : { "retry-after": String(fault.retryAfterSeconds) }
        }
      )
    })
