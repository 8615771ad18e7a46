/**
 * Whether a relay answers this machine, and whether their clocks agree: it refuses what is signed too far from its own time.
 */
import * as Identity from "@buzz-orchestra/relay/Identity"
import * as RelayConnection from "@buzz-orchestra/relay/RelayConnection"
import * as RelayHealth from "@buzz-orchestra/relay/RelayHealth"
import { toHttp } from "@buzz-orchestra/relay/RelayUrl"
import { Clock, Duration, Effect, Result } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { duration } from "../internal/terminalText.ts"
import type { Finding } from "./Finding.ts"

const LIMIT = Duration.seconds(10)

/** What a relay answered. */
export interface RelayAnswers {
  /** Milliseconds until it answered over HTTP, and its clock minus this one's in seconds when it said its time. */
  readonly http: Result.Result<{ readonly millis: number; readonly skewSeconds: number | undefined }, string>
  /** Whether it took the signature of a fresh key over WebSocket; `refused` when it knows its keys. */
  readonly socket: Result.Result<"authenticated" | "refused", string>
}

/** Findings about the relay at `url`, over HTTP and WebSocket. */
export const checkRelay = Effect.fn("RelayCheck.checkRelay")(function* (url: string) {
  const http = toHttp(url)
  if (Result.isFailure(http)) return [missing(http.failure.message, "give the relay's URL: --relay ws://HOST:PORT")]
  const answers: RelayAnswers = yield* Effect.all(
    { http: Effect.result(ask(http.success)), socket: Effect.result(authenticate(url)) },
    { concurrency: 2 }
  )
  return judge(url, answers)
})

/** For its document (NIP-11); any answer has a `Date`. */
const ask = Effect.fnUntraced(
  function* (url: string) {
    const client = yield* HttpClient.HttpClient
    const start = yield* Clock.currentTimeMillis
    const response = yield* client.execute(HttpClientRequest.get(url, { accept: "application/nostr+json" }))
    const end = yield* Clock.currentTimeMillis
    return { millis: end - start, skewSeconds: RelayHealth.skewOf(response.headers, start, end) }
  },
  Effect.timeout(LIMIT),
  Effect.mapError(({ message }) => message)
)

const authenticate = Effect.fnUntraced(
  function* (url: string) {
    yield* RelayConnection.open({ url, identity: yield* Identity.generate })
    return "authenticated" as const
  },
  Effect.scoped,
  Effect.catchReason("RelayError", "RelayAuthRefused", () => Effect.succeed("refused" as const)),
  Effect.timeout(LIMIT),
  Effect.mapError((error) => detailOf(error._tag === "RelayError" ? error.reason : error))
)

/** Without the address, which stands before it. */
const detailOf = (reason: { readonly message: string; readonly detail?: string }): string =>
  reason.detail ?? reason.message

/** What the answers mean. Pure. */
export const judge = (url: string, { http, socket }: RelayAnswers): ReadonlyArray<Finding> => {
  if (Result.isFailure(http) && Result.isFailure(socket))
    return [missing(`${url} does not answer: ${socket.failure}`, "start it, or correct the URL")]
  const skewSeconds = Result.isSuccess(http) ? http.success.skewSeconds : undefined
  return [
    relayFinding(url, { http, socket }),
    clockFinding(skewSeconds, Result.isSuccess(socket) && socket.success === "authenticated")
  ]
}

const relayFinding = (url: string, { http, socket }: RelayAnswers): Finding => {
  if (Result.isFailure(socket))
    return missing(`${url} answers over HTTP, but not over WebSocket: ${socket.failure}`, "look for a proxy in between")
  if (Result.isFailure(http))
    return missing(`${url} answers over WebSocket, but not over HTTP: ${http.failure}`, "look for a proxy in between")
  const detail = `${url} answers in ${duration(http.success.millis)}`
  return socket.success === "authenticated"
    ? { topic: "relay", status: "ok", detail: `${detail} and takes a fresh key` }
    : {
        topic: "relay",
        status: "warn",
        detail: `${detail}, but takes no fresh key`,
        next: "attest the trial's keys with --owner-key-env, unless the clock is to blame"
      }
}

const SET_CLOCK = "set this machine's clock, or the relay's"

const clockFinding = (skewSeconds: number | undefined, authenticated: boolean): Finding => {
  if (skewSeconds === undefined)
    return authenticated
      ? {
          topic: "clock",
          status: "ok",
          detail: `within ${RelayHealth.AUTHORISATION_LIMIT_SECONDS} s of the relay's, which took a signature of now`
        }
      : { topic: "clock", status: "warn", detail: "the relay does not say its time", next: SET_CLOCK }
  const size = Math.abs(skewSeconds)
  if (size === 0) return { topic: "clock", status: "ok", detail: "the same second here and at the relay" }
  const detail = `${size} s ${skewSeconds > 0 ? "behind" : "ahead of"} the relay's`
  if (size <= RelayHealth.NOTICED_SKEW_SECONDS) return { topic: "clock", status: "ok", detail }
  const refused = `; more than ${RelayHealth.AUTHORISATION_LIMIT_SECONDS} s are refused`
  return {
    topic: "clock",
    status: size > RelayHealth.AUTHORISATION_LIMIT_SECONDS ? "missing" : "warn",
    detail: detail + refused,
    next: SET_CLOCK
  }
}

const missing = (detail: string, next: string): Finding => ({ topic: "relay", status: "missing", detail, next })
