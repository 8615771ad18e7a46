/**
 * The checks that need nothing but the event itself and who sent it: the first nine of the relay's list, in its order.
 */
import { Result } from "effect"
import * as EventKind from "../EventKind.ts"
import { eventId, verifyEvent } from "../EventSigning.ts"
import { type NostrEvent, tagValues } from "../NostrEvent.ts"
import * as KindRules from "./KindRules.ts"
import { type Refusal, refuse } from "./Refusal.ts"
import type { RelayRules } from "./RelayState.ts"

/** An event on its way in. */
export interface Submission {
  readonly event: NostrEvent
  /** The authenticated key of the sender. */
  readonly by: string
  readonly via: KindRules.Transport
}

/** Bytes of UTF-8 that an event's content may have. */
export const MAX_CONTENT_BYTES = 262_144

/** Bytes of UTF-8 that an address (`d`) may have. */
export const MAX_ADDRESS_BYTES = 1024

/** Refuses with the text of the first check that fails. `now` in seconds. */
export const check = (submission: Submission, rules: RelayRules, now: number): Result.Result<void, Refusal> =>
  Result.gen(function* () {
    const { by, event, via } = submission
    yield* checkReserved(event, via)
    if (!verifyEvent(rules.schnorr, event))
      return yield* refuse(
        eventId(event) === event.id ? "invalid: bad event signature" : "invalid: event id does not match its content"
      )
    if (!EventKind.isEphemeral(event.kind) && Math.abs(now - event.created_at) > rules.clockSkewSeconds)
      return yield* refuse("invalid: event timestamp too far from server time")
    const size = byteLength(event.content)
    if (size > MAX_CONTENT_BYTES)
      return yield* refuse(`invalid: content exceeds maximum size of ${MAX_CONTENT_BYTES} bytes (got ${size})`)
    if (event.pubkey !== by && event.kind !== EventKind.GiftWrap)
      return yield* refuse("invalid: event pubkey does not match authenticated identity", 403)
    if (!KindRules.isAllowed(event.kind, via)) return yield* refuse("restricted: unknown event kind")
    if (EventKind.isAddressable(event.kind) && byteLength(tagValues(event, "d")[0] ?? "") > MAX_ADDRESS_BYTES)
      return yield* refuse(`invalid: d tag exceeds ${MAX_ADDRESS_BYTES} bytes`)
  })

/** Kinds that nobody submits, or not this way. */
const checkReserved = ({ kind }: NostrEvent, via: KindRules.Transport): Result.Result<void, Refusal> => {
  if (kind === EventKind.RelayAuth)
    return refuse(`invalid: AUTH events cannot be submitted${via === "ws" ? " via EVENT" : ""}`)
  if (kind === EventKind.MemberAdded || kind === EventKind.MemberRemoved)
    return refuse("invalid: membership notifications are relay-signed only")
  if (via === "http" && (kind === EventKind.GiftWrap || kind === EventKind.Presence))
    return refuse(`invalid: kind ${kind} is only accepted via WebSocket`)
  return KindRules.RELAY_ONLY.has(kind) ? refuse("restricted: relay-only kind") : Result.void
}

const byteLength = (text: string): number => new TextEncoder().encode(text).length
