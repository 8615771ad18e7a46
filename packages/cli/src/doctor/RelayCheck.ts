/**
 * Whether a relay answers this machine, and whether their clocks agree: it refuses what is signed too far from its own time.
 */
import * as Identity from "@buzz-orchestra/relay/Identity"
import * as RelayConnection from "@buzz-orchestra/relay/RelayConnection"
import { toHttp } from "@buzz-orchestra/relay/RelayUrl"
import { Clock, Duration, Effect, Option, Result } from "effect"
import { Headers, HttpClient, HttpClientRequest } from "effect/http"
import { duration } from "../internal/terminalText.ts"
import type { Finding } from "./Finding.ts"

/** As far as a signed authorisation (NIP-42, NIP-98) may lie from the clock of a Buzz relay. */
const TOLERANCE_SECONDS = 60

/** More than a slow network explains. */
const NOTICED_SECONDS = 5

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
    const date = Date.parse(Option.getOrElse(Headers.get(response.headers, "date"), () => ""))
    return { millis: end - start, skewSeconds: Number.isNaN(date) ? undefined : skew(date, start, end) }
  },
  Effect.timeout(LIMIT),
  Effect.mapError(({ message }) => message)
)

/** A `Date` holds whole seconds, and was written some time between the two moments: 0 unless it must have been another second. */
const skew = (date: number, start: number, end: number): number => {
  if (date > end) return Math.round((date - end) / 1000)
  return date + 1000 < start ? -Math.round((start - date - 1000) / 1000) : 0
}

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
          detail: `within ${TOLERANCE_SECONDS} s of the relay's, which took a signature of now`
        }
      : { topic: "clock", status: "warn", detail: "the relay does not say its time", next: SET_CLOCK }
  const size = Math.abs(skewSeconds)
  if (size === 0) return { topic: "clock", status: "ok", detail: "the same second here and at the relay" }
  const detail = `${size} s ${skewSeconds > 0 ? "behind" : "ahead of"} the relay's`
  if (size <= NOTICED_SECONDS) return { topic: "clock", status: "ok", detail }
  const refused = `; more than ${TOLERANCE_SECONDS} s are refused`
  return {
    topic: "clock",
    status: size > TOLERANCE_SECONDS ? "missing" : "warn",
    detail: detail + refused,
    next: SET_CLOCK
  }
}

const missing = (detail: string, next: string): Finding => ({ topic: "relay", status: "missing", detail, next })
