/** The two calls that a client makes over HTTP: publish an event, run filters. Signed, retried, with time-outs. */
import { Clock, Duration, Effect, Option, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { Headers, HttpBody, HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import type { Actor } from "../BuzzClient.ts"
import type { Filter } from "../Filter.ts"
import * as Nip98 from "../Nip98.ts"
import type { NostrEvent } from "../NostrEvent.ts"
import { type RelayReason, RelayUnreachable } from "../RelayError.ts"
import { toHttp } from "../RelayUrl.ts"
import * as RetryPolicy from "../RetryPolicy.ts"
import { Schnorr } from "../Schnorr.ts"
import * as Reply from "./relayReply.ts"
import { causeText } from "./causeText.ts"
import { retrying } from "./retrying.ts"

/** Both calls fail with the reason of the last attempt. */
export interface RelayHttp {
  /** The relay's answer, as it stands: `accepted: false` is a value. */
  readonly publish: (
    actor: Actor,
    event: NostrEvent
  ) => Effect.Effect<{ readonly accepted: boolean; readonly message: string }, RelayReason>
  /** Raw events, not verified. */
  readonly query: (actor: Actor, filters: ReadonlyArray<Filter>) => Effect.Effect<ReadonlyArray<unknown>, RelayReason>
}

/** How patient the calls are. */
export interface RelayHttpOptions {
  readonly retry: RetryPolicy.RetryPolicy
  /** For one attempt, from the first byte sent to the last one read. */
  readonly timeout: Duration.Duration
}

/** Takes client, verifier and randomness once. */
export const make = Effect.fnUntraced(function* (options: RelayHttpOptions) {
  const client = yield* HttpClient.HttpClient
  const schnorr = yield* Schnorr
  const random = yield* SecureRandom.SecureRandom

  const attempt = Effect.fnUntraced(function* (actor: Actor, base: string, path: string, body: string) {
    const asked: Reply.Asked = { url: base, pubkey: actor.identity.pubkey }
    const url = `${base}${path}`
    const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    // A fresh nonce for every attempt, or the relay would take the second one for a replay.
    const nonce = yield* random.uuidV4()
    const authorization = Nip98.authorizationHeader(schnorr, actor.identity, { url, method: "POST", body, now, nonce })
    const { authTag } = actor.identity
    const request = HttpClientRequest.post(url, {
      headers: { authorization, ...(authTag === undefined ? {} : { [AUTH_TAG_HEADER]: Redacted.value(authTag) }) },
      body: HttpBody.text(body, "application/json")
    })
    const reply = yield* client.execute(request).pipe(
      Effect.flatMap((response) =>
        Effect.map(response.text, (body) => ({
          status: response.status,
          body,
          retryAfterMillis: retryAfter(response, now)
        }))
      ),
      Effect.mapError(({ reason }) => unreachable(base, causeText(reason) ?? "no connection", reason.cause)),
      Effect.timeoutOrElse({
        duration: options.timeout,
        orElse: () => Effect.fail(unreachable(base, `no answer within ${Duration.format(options.timeout)}`))
      }),
      // A span of the request would hold its headers, which are credentials, and send a trace header to the relay.
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
    )
    return yield* Effect.fromResult(Reply.jsonOf(asked, reply))
  })

  /** What `read` makes of the answer counts, because a relay also refuses with status 200. */
  const call = Effect.fnUntraced(function* <A>(
    actor: Actor,
    path: string,
    body: string,
    read: (value: unknown) => Result.Result<A, RelayReason>
  ) {
    const base = yield* Effect.fromResult(toHttp(actor.relayUrl))
    const once = Effect.flatMap(attempt(actor, base, path, body), (value) => Effect.fromResult(read(value)))
    return yield* retrying(once, (reason, failures, random) =>
      RetryPolicy.pauseMillis(options.retry, reason, failures, random)
    )
  })

  const http: RelayHttp = {
    publish: (actor, event) =>
      call(actor, "/events", JSON.stringify(event), (value) => Reply.acceptanceOf(asked(actor), event.id, value)),
    query: (actor, filters) =>
      call(actor, "/query", JSON.stringify(filters), (value) => Reply.eventsOf(asked(actor), value))
  }
  return http
})

const asked = (actor: Actor): Reply.Asked => ({ url: actor.relayUrl, pubkey: actor.identity.pubkey })

/** Carries the owner's attestation of an identity. */
const AUTH_TAG_HEADER = "x-auth-tag"

const unreachable = (url: string, detail: string, cause?: unknown): RelayReason =>
  new RelayUnreachable({ url, detail, ...(cause === undefined ? {} : { cause }) })

const retryAfter = (response: HttpClientResponse.HttpClientResponse, nowSeconds: number): number | undefined =>
  Option.getOrUndefined(
    Option.map(
      Option.flatMap(Headers.get(response.headers, "retry-after"), (text) =>
        Result.getSuccess(Headers.parseRetryAfter(text))
      ),
      (wish) => Duration.toMillis(Headers.retryAfterDelay(wish, nowSeconds * 1000))
    )
  )
