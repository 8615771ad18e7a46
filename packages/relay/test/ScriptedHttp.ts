/**
 * An `HttpClient` whose other end is a function of the test, and the requests it saw.
 */
import { Effect, Fiber, Layer, Result } from "effect"
import { Base64 } from "effect/encoding"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { BuzzClient } from "../src/BuzzClient.ts"
import * as BuzzClientNative from "../src/BuzzClientNative.ts"
import type { Filter } from "../src/Filter.ts"
import type { NostrEvent } from "../src/NostrEvent.ts"
import type { RelayError, RelayReason } from "../src/RelayError.ts"
import * as SchnorrWasm from "../src/SchnorrWasm.ts"

export interface SeenRequest {
  readonly url: string
  readonly path: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** An answer, no connection at all, or none ever. */
export type Answer =
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }
  | "no connection"
  | "silence"

export const ok = (body: unknown): Answer => ({ status: 200, body })

/** The relay's answer to an event that it stored. */
export const accepted = (request: SeenRequest, message = ""): Answer =>
  ok({ event_id: eventOf(request).id, accepted: true, message })

/** The relay's answer to an event that it did not store, with status 200. */
export const notAccepted = (request: SeenRequest, message: string): Answer =>
  ok({ event_id: eventOf(request).id, accepted: false, message })

export const eventOf = (request: SeenRequest): NostrEvent => JSON.parse(request.body) as NostrEvent
export const filtersOf = (request: SeenRequest): ReadonlyArray<Filter> => JSON.parse(request.body) as Array<Filter>

/** The newest request; there must be one. */
export const lastOf = (requests: ReadonlyArray<SeenRequest>): SeenRequest => {
  const last = requests.at(-1)
  if (last === undefined) throw new Error("no request was made")
  return last
}

/** The event in the request's authorisation. */
export const authOf = (request: SeenRequest): NostrEvent => {
  const encoded = (request.headers["authorization"] ?? "").slice("Nostr ".length)
  return JSON.parse(Result.getOrThrow(Base64.decodeString(encoded))) as NostrEvent
}

/** What the other end does. `before` holds the earlier requests, oldest first. */
export type Respond = (request: SeenRequest, before: ReadonlyArray<SeenRequest>) => Answer

/** The other end and what it saw so far. */
export const scripted = (respond: Respond) => {
  const seen: Array<SeenRequest> = []
  const layer = Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request, url) =>
      Effect.suspend(() => {
        const body = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
        const one: SeenRequest = { url: url.href, path: url.pathname, body, headers: { ...request.headers } }
        const answer = respond(one, [...seen])
        seen.push(one)
        if (answer === "silence") return Effect.never
        if (answer === "no connection") {
          const cause = new Error("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:1") })
          const reason = new HttpClientError.TransportError({ request, cause })
          return Effect.fail(new HttpClientError.HttpClientError({ reason }))
        }
        const text = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body)
        const response = new Response(text, { status: answer.status, headers: answer.headers ?? {} })
        return Effect.succeed(HttpClientResponse.fromWeb(request, response))
      })
    )
  )
  return { seen, layer }
}

/** Runs a call of the native client against the script; pauses pass by themselves. */
export const run = <A>(
  call: (client: BuzzClient["Service"]) => Effect.Effect<A, RelayError>,
  respond: Respond
): Effect.Effect<{ readonly result: Result.Result<A, RelayReason>; readonly seen: ReadonlyArray<SeenRequest> }> => {
  const { layer, seen } = scripted(respond)
  return Effect.gen(function* () {
    const client = yield* BuzzClient
    const fiber = yield* Effect.forkChild(Effect.result(call(client)), { startImmediately: true })
    while (fiber.pollUnsafe() === undefined) yield* TestClock.adjust("1 second")
    const result = Result.mapError(yield* Fiber.join(fiber), ({ reason }) => reason)
    return { result, seen }
  }).pipe(
    Effect.provide(
      BuzzClientNative.layer.pipe(Layer.provide(Layer.mergeAll(layer, SchnorrWasm.layer, SecureRandom.layerWebCrypto)))
    )
  )
}

/** The reason of a failure. */
export const reasonOf = (result: Result.Result<unknown, RelayReason>): RelayReason | undefined =>
  Result.isFailure(result) ? result.failure : undefined

/** The relay's words in a reason. */
export const detailOf = (result: Result.Result<unknown, RelayReason>): string => {
  const reason = reasonOf(result)
  return reason !== undefined && "detail" in reason ? reason.detail : ""
}
