/**
 * Whether a relay is ready, and how far its clock is from this machine's: it refuses what is signed too far from its own
 * time, with words that do not always say so.
 */
import { Clock, Duration, Effect, Option } from "effect"
import { Headers, HttpClient } from "effect/http"
import { causeText } from "./internal/causeText.ts"
import { MAX_SKEW_SECONDS } from "./Nip98.ts"
import { ClockSkewed, type RelayReason, RelayRefused, RelayUnreachable } from "./RelayError.ts"
import { toHttp } from "./RelayUrl.ts"

/** A relay tolerates so much in an authorisation (NIP-42, NIP-98), in seconds. */
export const AUTHORISATION_LIMIT_SECONDS = MAX_SKEW_SECONDS

/** And so much in an event that it is to keep. */
export const EVENT_LIMIT_SECONDS = 900

/** More than a slow network explains: worth a word before a trial, in seconds. */
export const NOTICED_SKEW_SECONDS = 5

/** A relay that is ready. */
export interface RelayHealth {
  /** Until it answered. */
  readonly millis: number
  /** The relay's clock minus this machine's; `undefined` when its answer has no `Date`. */
  readonly skewSeconds: number | undefined
}

/**
 * Asks `/_readiness`. Fails with `RelayUnreachable` or `RelayRefused` when the relay is not ready, with `ClockSkewed` when no
 * authorisation of ours could be valid. Nothing is tried again.
 */
export const check = Effect.fn("RelayHealth.check")(function* (
  relayUrl: string
): Effect.fn.Return<RelayHealth, RelayReason, HttpClient.HttpClient> {
  const client = yield* HttpClient.HttpClient
  const url = yield* Effect.fromResult(toHttp(relayUrl))
  const start = yield* Clock.currentTimeMillis
  const { headers, status } = yield* client.get(`${url}/_readiness`).pipe(
    Effect.mapError(({ reason }) => new RelayUnreachable({ url, detail: causeText(reason) ?? "no connection" })),
    Effect.timeoutOrElse({
      duration: DEADLINE,
      orElse: () => Effect.fail(new RelayUnreachable({ url, detail: `no answer within ${Duration.format(DEADLINE)}` }))
    }),
    Effect.scoped
  )
  const end = yield* Clock.currentTimeMillis
  if (status !== 200) return yield* new RelayRefused({ url, status, detail: "the relay is not ready" })
  const skewSeconds = skewOf(headers, start, end)
  if (skewSeconds !== undefined && Math.abs(skewSeconds) > AUTHORISATION_LIMIT_SECONDS) {
    return yield* new ClockSkewed({ url, skewSeconds, limitSeconds: AUTHORISATION_LIMIT_SECONDS })
  }
  return { millis: end - start, skewSeconds }
})

/** The skew that an answer tells, which was asked for at `start` and here at `end`, in milliseconds. */
export const skewOf = (headers: Headers.Headers, start: number, end: number): number | undefined => {
  const date = Date.parse(Option.getOrElse(Headers.get(headers, "date"), () => ""))
  return Number.isNaN(date) ? undefined : skewBetween(date, start, end)
}

/** A `Date` holds whole seconds, and was written some time between the two moments: 0 unless it must have been another second. */
const skewBetween = (date: number, start: number, end: number): number => {
  if (date > end) return Math.round((date - end) / 1000)
  return date + 1000 < start ? -Math.round((start - date - 1000) / 1000) : 0
}

const DEADLINE = Duration.seconds(5)
