/**
 * The relay's HTTP side as the Rust programs use it: signed filters to `/query`, signed events to `/events`, the answers as
 * they stand. What an answer means (an exit code, a retry) is the program's business.
 */
import { Clock, Context, type Duration, Effect, Layer, Redacted, Schema } from "effect"
import { signEvent } from "@buzz-orchestra/relay/EventSigning"
import type { Filter } from "@buzz-orchestra/relay/Filter"
import type { Identity } from "@buzz-orchestra/relay/Identity"
import * as Nip98 from "@buzz-orchestra/relay/Nip98"
import { type EventTemplate, NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import * as OwnerAttestation from "@buzz-orchestra/relay/OwnerAttestation"
import { Schnorr } from "@buzz-orchestra/relay/Schnorr"
import { randomUUID } from "node:crypto"
import { HttpPost } from "./HttpPost.ts"

/** The relay answered with another status than 2xx. */
export class BridgeRefused extends Schema.TaggedError<BridgeRefused>()("BridgeRefused", {
  status: Schema.Int,
  /** The `error` or `message` of the body, or the body. */
  text: Schema.String
}) {
  override get message(): string {
    return `relay error ${this.status}: ${this.text}`
  }
}

/** No answer: the connection failed, or it took too long. */
export class BridgeUnreachable extends Schema.TaggedError<BridgeUnreachable>()("BridgeUnreachable", {
  detail: Schema.String
}) {
  override get message(): string {
    return `network error: ${this.detail}`
  }
}

/** A 2xx answer that is not what was asked for. */
export class BridgeReplyMalformed extends Schema.TaggedError<BridgeReplyMalformed>()("BridgeReplyMalformed", {
  detail: Schema.String
}) {
  override get message(): string {
    return `unexpected answer of the relay: ${this.detail}`
  }
}

export type BridgeError = BridgeRefused | BridgeUnreachable | BridgeReplyMalformed

/** The answer to a published event. `accepted: false` with a reason is an answer, not an error. */
export const WriteResult = Schema.Struct({
  accepted: Schema.Boolean,
  event_id: Schema.String,
  message: Schema.String
})
export type WriteResult = typeof WriteResult.Type

/** For one request, from its first byte to the last one of the answer. */
const TIMEOUT: Duration.Input = "10 seconds"

export class RelayBridge extends Context.Service<
  RelayBridge,
  {
    /** Runs filters; the events in the relay's order, newest first. They are not verified, as in the real programs. */
    query(filters: ReadonlyArray<Filter>): Effect.Effect<ReadonlyArray<NostrEvent>, BridgeError>
    /** Signs a template as the identity and publishes it. `withAuthTag` (default) appends the owner's attestation. */
    publish(
      template: Omit<EventTemplate, "created_at"> & { readonly created_at?: number },
      options?: { readonly withAuthTag?: boolean }
    ): Effect.Effect<WriteResult, BridgeError>
  }
>()("@buzz-orchestra/reference-stack/RelayBridge") {
  /** Speaks as one identity to one relay (`http://` or `https://`, without a trailing slash). */
  static readonly layerWith = (options: {
    readonly httpUrl: string
    readonly identity: Identity
  }): Layer.Layer<RelayBridge, never, HttpPost | Schnorr> =>
    Layer.effect(
      RelayBridge,
      Effect.gen(function* () {
        const http = yield* HttpPost
        const schnorr = yield* Schnorr
        const { httpUrl, identity } = options

        const post = Effect.fnUntraced(function* (path: string, body: string) {
          const url = `${httpUrl}${path}`
          const request = { url, method: "POST", body, now: yield* nowSeconds, nonce: randomUUID() }
          const { authTag } = identity
          const answer = yield* http
            .send({
              url,
              headers: {
                authorization: Nip98.authorizationHeader(schnorr, identity, request),
                ...(authTag === undefined ? {} : { "x-auth-tag": Redacted.value(authTag) })
              },
              body
            })
            .pipe(
              Effect.mapError(({ detail }) => new BridgeUnreachable({ detail })),
              Effect.timeoutOrElse({
                duration: TIMEOUT,
                orElse: () => Effect.fail(new BridgeUnreachable({ detail: "operation timed out" }))
              })
            )
          if (answer.status < 200 || answer.status > 299)
            return yield* new BridgeRefused({ status: answer.status, text: errorText(answer.body) })
          return answer.body
        })

        return RelayBridge.of({
          query: Effect.fn("RelayBridge.query")(function* (filters: ReadonlyArray<Filter>) {
            return yield* decoded(Events, yield* post("/query", JSON.stringify(filters)))
          }),
          publish: Effect.fn("RelayBridge.publish")(function* (template, settings = {}) {
            const attestation = settings.withAuthTag === false ? [] : OwnerAttestation.eventTags(identity.authTag)
            const event = signEvent(
              schnorr,
              {
                kind: template.kind,
                content: template.content,
                created_at: template.created_at ?? (yield* nowSeconds),
                // The Rust library drops a mention of oneself without a word.
                tags: [
                  ...template.tags.filter((tag) => !(tag[0] === "p" && tag[1] === identity.pubkey)),
                  ...attestation
                ]
              },
              identity.secretKey
            )
            return yield* decoded(Write, yield* post("/events", JSON.stringify(event)))
          })
        })
      })
    )
}

const Events = Schema.fromJsonString(Schema.Array(NostrEvent))
const Write = Schema.fromJsonString(WriteResult)

const decoded = <A>(schema: Schema.Codec<A, string>, text: string) =>
  Effect.mapError(Schema.decodeEffect(schema)(text), (error) => new BridgeReplyMalformed({ detail: error.message }))

const nowSeconds = Effect.map(Clock.currentTimeMillis, (millis) => Math.floor(millis / 1000))

const errorText = (body: string): string => {
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value !== "object" || value === null) return body
    const { error, message } = value as { readonly error?: unknown; readonly message?: unknown }
    return typeof error === "string" ? error : typeof message === "string" ? message : body
  } catch {
    return body
  }
}
