/**
 * A client without any cleverness for tests over real sockets: a WebSocket whose frames one takes one by one, and signed
 * HTTP requests through `fetch`. Every wait is bounded.
 */
import * as NodeWS from "@effect/platform-node/NodeWS"
import { Clock, Deferred, Effect, Queue } from "effect"
import { randomUUID } from "node:crypto"
import { signEvent } from "../../src/EventSigning.ts"
import type { Identity } from "../../src/Identity.ts"
import * as Nip42 from "../../src/Nip42.ts"
import * as Nip98 from "../../src/Nip98.ts"
import type { NostrEvent } from "../../src/NostrEvent.ts"
import { Schnorr } from "../../src/Schnorr.ts"
import type { Draft } from "./support.ts"

export type Frame = ReadonlyArray<unknown>

const seconds = Effect.map(Clock.currentTimeMillis, (millis) => Math.floor(millis / 1000))

export const signNow = Effect.fnUntraced(function* (author: Identity, draft: Draft) {
  const schnorr = yield* Schnorr
  return signEvent(schnorr, { tags: [], content: "", created_at: yield* seconds, ...draft }, author.secretKey)
})

/** Opens a socket that the scope owns. Nobody has authenticated on it yet. */
export const open = Effect.fnUntraced(function* (url: string) {
  const frames = yield* Queue.unbounded<Frame>()
  const closed = yield* Deferred.make<number>()
  const pinged = yield* Deferred.make<void>()
  const ws = yield* Effect.acquireRelease(
    Effect.sync(() => new NodeWS.WebSocket(url)),
    (ws) => Effect.sync(() => ws.terminate())
  )
  ws.on("message", (data: { toString(): string }) => Queue.offerUnsafe(frames, JSON.parse(data.toString()) as Frame))
  ws.on("close", (code: number) => Deferred.doneUnsafe(closed, Effect.succeed(code)))
  ws.on("ping", () => Deferred.doneUnsafe(pinged, Effect.void))
  ws.on("error", () => {})
  return {
    ws,
    send: (...parts: Frame) => Effect.sync(() => ws.send(JSON.stringify(parts))),
    /** The next frame. */
    next: Effect.timeout(Queue.take(frames), "5 seconds"),
    /** All frames that are there. */
    rest: Queue.clear(frames),
    /** The relay has asked for a sign of life. */
    pinged: Effect.timeout(Deferred.await(pinged), "5 seconds"),
    /** The code with which the connection ended. */
    closed: Effect.timeout(Deferred.await(closed), "5 seconds")
  }
})

/** Opens a socket and authenticates. */
export const connect = Effect.fnUntraced(function* (url: string, who: Identity) {
  const schnorr = yield* Schnorr
  const client = yield* open(url)
  const [, challenge] = yield* client.next
  const answer = Nip42.authEvent(schnorr, who, { relayUrl: url, challenge: String(challenge), now: yield* seconds })
  yield* client.send("AUTH", answer)
  const ok = yield* client.next
  if (ok[2] !== true) return yield* Effect.die(new Error(`not authenticated: ${JSON.stringify(ok)}`))
  return client
})

/** One signed request; the body decoded when it is JSON. */
export const post = Effect.fnUntraced(function* (relayUrl: string, who: Identity, path: string, value: unknown) {
  const schnorr = yield* Schnorr
  const url = relayUrl.replace(/^ws/, "http") + path
  const body = JSON.stringify(value)
  const now = yield* seconds
  const authorization = Nip98.authorizationHeader(schnorr, who, { url, method: "POST", body, now, nonce: randomUUID() })
  return yield* Effect.promise(async () => {
    const response = await fetch(url, { method: "POST", body, headers: { authorization } })
    const text = await response.text()
    const isJson = response.headers.get("content-type")?.includes("json") === true
    return {
      status: response.status,
      retryAfter: response.headers.get("retry-after"),
      body: isJson ? (JSON.parse(text) as unknown) : text
    }
  })
})

/** Signs and publishes over HTTP what must be accepted and new. */
export const publish = Effect.fnUntraced(function* (relayUrl: string, author: Identity, draft: Draft) {
  const event: NostrEvent = yield* signNow(author, draft)
  const { body, status } = yield* post(relayUrl, author, "/events", event)
  if (status !== 200 || (body as { message: string }).message !== "")
    return yield* Effect.die(new Error(`refused: ${JSON.stringify(body)}`))
  return event
})
