/**
 * The relay's routes: the bridge, the WebSocket on `/`, the relay's document and its health.
 */
import { ByteSize, Effect, Layer } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Bridge from "./Bridge.ts"
import { Faults, type HttpFault, NO_FAULTS } from "./Faults.ts"
import * as Hosts from "./Hosts.ts"
import * as RelayDocument from "./RelayDocument.ts"
import type { RelayHub } from "./RelayHub.ts"
import * as WebSocketSession from "./WebSocketSession.ts"

/** A longer body is answered with 413. */
export const MAX_BODY = ByteSize.mebibytes(1)

/** Adds all routes to the router. */
export const layer = (hub: RelayHub) => {
  const document = HttpServerResponse.jsonUnsafe(RelayDocument.make(hub.rules), {
    contentType: "application/nostr+json"
  })
  return Layer.mergeAll(
    HttpRouter.add("GET", "/", root(hub, document)),
    HttpRouter.add("GET", "/info", document),
    HttpRouter.add("GET", "/health", HttpServerResponse.text("ok")),
    HttpRouter.add("GET", "/_liveness", HttpServerResponse.text("ok")),
    HttpRouter.add("GET", "/_readiness", () => Effect.succeed(hub.isClosing() ? SHUTTING_DOWN : READY)),
    bridge(hub, "/events"),
    bridge(hub, "/query"),
    bridge(hub, "/count")
  )
}

const READY = HttpServerResponse.jsonUnsafe({ status: "ready" })
const SHUTTING_DOWN = HttpServerResponse.jsonUnsafe({ status: "shutting_down" }, { status: 503 })
const NO_PLACE = HttpServerResponse.jsonUnsafe({ error: "too many connections" }, { status: 503 })

const answer = ({ body, status }: Bridge.Response) => HttpServerResponse.jsonUnsafe(body, { status })

const root = (hub: RelayHub, document: HttpServerResponse.HttpServerResponse) =>
  orFault("/", (request) => {
    const urls = Hosts.urlsFor(hub.rules, request.headers["host"])
    if (urls.length === 0) return Effect.succeed(answer(Bridge.UNKNOWN_HOST))
    return request.headers["upgrade"]?.toLowerCase() === "websocket"
      ? webSocket(request, hub, urls)
      : Effect.succeed(document)
  })

const webSocket = (request: HttpServerRequest.HttpServerRequest, hub: RelayHub, urls: ReadonlyArray<string>) =>
  Effect.map(Effect.scoped(WebSocketSession.serve(request, hub, urls)), (isServed) => {
    if (isServed) return HttpServerResponse.empty()
    return hub.isClosing() ? SHUTTING_DOWN : NO_PLACE
  })

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
            host: request.headers["host"],
            authorization: request.headers["authorization"],
            authTag: request.headers["x-auth-tag"],
            body: new Uint8Array(body)
          })
        ),
        Effect.map(answer),
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
    Effect.flatMap(Faults, (faults) =>
      faults === NO_FAULTS
        ? handle(request)
        : Effect.flatMap(faults.httpFault(path), (fault) =>
            fault === undefined ? handle(request) : Effect.succeed(inPlaceOf(fault))
          )
    )

const inPlaceOf = ({ retryAfterSeconds, status }: HttpFault): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(
    { error: `fault injected: ${status}` },
    { status, headers: retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) } }
  )
