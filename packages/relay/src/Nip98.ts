/**
 * NIP-98: one signed event per HTTP request, in the `Authorization` header. Pure on both sides; the relay keeps the set of
 * used event ids itself.
 */
import { Result } from "effect"
import { Base64 } from "effect/encoding"
import { signEvent, verifyEvent } from "./EventSigning.ts"
import * as EventKind from "./EventKind.ts"
import type { Identity } from "./Identity.ts"
import { decodeEvent } from "./internal/decodeEvent.ts"
import * as Sha256 from "./internal/sha256.ts"
import { tagValues } from "./NostrEvent.ts"
import { normalize } from "./RelayUrl.ts"
import type { SchnorrOps } from "./Schnorr.ts"

/** Greatest distance between the event's and the relay's clock, in seconds. */
export const MAX_SKEW_SECONDS = 60

/**
 * The header's value for one request. `body` is what will be sent, byte for byte. `nonce` must differ between requests: a
 * relay refuses an event id it has seen, and without a nonce two equal requests in one second have the same id.
 */
export const authorizationHeader = (
  schnorr: SchnorrOps,
  identity: Identity,
  request: {
    readonly url: string
    readonly method: string
    readonly body: Uint8Array | string
    /** Seconds since the epoch. */
    readonly now: number
    readonly nonce: string
  }
): string => {
  const event = signEvent(
    schnorr,
    {
      kind: EventKind.HttpAuth,
      created_at: request.now,
      content: "",
      tags: [
        ["u", request.url],
        ["method", request.method],
        ["nonce", request.nonce],
        ["payload", Sha256.hex(request.body)]
      ]
    },
    identity.secretKey
  )
  return `${PREFIX}${Base64.encode(JSON.stringify(event))}`
}

/**
 * Who sent this request. Failures are the relay's own texts, in the relay's order; all of them answer with status 401.
 * Replay is not checked here: the caller refuses an `eventId` that it accepted within the last two minutes.
 */
export const verify = (
  schnorr: SchnorrOps,
  header: string | undefined,
  request: {
    readonly expectedUrl: string
    readonly method: string
    readonly body: Uint8Array | string
    /** Seconds since the epoch. */
    readonly now: number
  }
): Result.Result<{ readonly pubkey: string; readonly eventId: string }, string> =>
  Result.gen(function* () {
    const event = yield* readHeader(header)
    if (event.kind !== EventKind.HttpAuth)
      return yield* refuse(`expected kind ${EventKind.HttpAuth}, got ${event.kind}`)
    if (!verifyEvent(schnorr, event)) return yield* refuse("invalid Schnorr signature")
    const delta = Math.abs(request.now - event.created_at)
    if (delta > MAX_SKEW_SECONDS) return yield* refuse(`event timestamp outside ±60s window (delta: ${delta}s)`)
    const [url] = tagValues(event, "u")
    if (url === undefined) return yield* refuse("missing `u` tag")
    if (normalize(url) !== normalize(request.expectedUrl))
      return yield* refuse(`URL mismatch: event has \`${url}\`, expected \`${request.expectedUrl}\``)
    const [method] = tagValues(event, "method")
    if (method === undefined) return yield* refuse("missing `method` tag")
    if (method.toUpperCase() !== request.method.toUpperCase())
      return yield* refuse(`method mismatch: event has \`${method}\`, expected \`${request.method}\``)
    const [payload] = tagValues(event, "payload")
    if (payload !== undefined && payload !== Sha256.hex(request.body))
      return yield* refuse("payload tag SHA-256 mismatch: request body does not match signed hash")
    return { pubkey: event.pubkey, eventId: event.id }
  })

const PREFIX = "Nostr "
const VERIFICATION_FAILED = "NIP-98: NIP-98 HTTP Auth verification failed"

const refuse = (detail: string) => Result.fail(`${VERIFICATION_FAILED}: ${detail}`)

const readHeader = (header: string | undefined) =>
  Result.gen(function* () {
    if (header === undefined || !header.startsWith(PREFIX)) return yield* Result.fail("missing Nostr auth")
    const encoded = header.slice(PREFIX.length)
    const bytes = yield* Result.mapError(Base64.decode(encoded), () => "invalid base64 in Nostr auth")
    const text = yield* Result.try({
      try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
      catch: () => "invalid UTF-8 in Nostr auth"
    })
    return yield* Result.mapError(decodeEvent(text), () => "invalid NIP-98 event JSON")
  })
