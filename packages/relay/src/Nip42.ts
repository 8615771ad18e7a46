/**
 * NIP-42: a relay challenges a connection, the client answers with a signed event. Pure on both sides.
 */
import { Result } from "effect"
import * as EventKind from "./EventKind.ts"
import { signEvent, verifyEvent } from "./EventSigning.ts"
import type { Identity } from "./Identity.ts"
import { type NostrEvent, tagValues } from "./NostrEvent.ts"
import * as OwnerAttestation from "./OwnerAttestation.ts"
import { sameRelay } from "./RelayUrl.ts"
import type { SchnorrOps } from "./Schnorr.ts"

/** Greatest distance between the event's and the relay's clock, in seconds. */
export const MAX_SKEW_SECONDS = 60

/** What every failed verification is answered with. The relay tells no details, and the connection stays refused. */
export const VERIFICATION_FAILED = "auth-required: verification failed"

/** The answer to a challenge, with the owner's attestation when the identity has one. */
export const authEvent = (
  schnorr: SchnorrOps,
  identity: Identity,
  options: {
    /** The relay's canonical URL, `ws://` or `wss://`. */
    readonly relayUrl: string
    readonly challenge: string
    /** Seconds since the epoch. */
    readonly now: number
  }
): NostrEvent =>
  signEvent(
    schnorr,
    {
      kind: EventKind.RelayAuth,
      created_at: options.now,
      content: "",
      tags: [
        ["relay", options.relayUrl],
        ["challenge", options.challenge],
        ...OwnerAttestation.eventTags(identity.authTag)
      ]
    },
    identity.secretKey
  )

/** Who answered, and who attested that key. The failure is the relay's one text. */
export const verify = (
  schnorr: SchnorrOps,
  event: NostrEvent,
  expected: {
    readonly relayUrl: string
    readonly challenge: string
    /** Seconds since the epoch. */
    readonly now: number
  }
): Result.Result<
  { readonly pubkey: string; readonly attestation: OwnerAttestation.OwnerAttestation | undefined },
  string
> => {
  const [challenge] = tagValues(event, "challenge")
  const [relay] = tagValues(event, "relay")
  const isGood =
    event.kind === EventKind.RelayAuth &&
    verifyEvent(schnorr, event) &&
    challenge === expected.challenge &&
    relay !== undefined &&
    sameRelay(relay, expected.relayUrl) &&
    Math.abs(expected.now - event.created_at) <= MAX_SKEW_SECONDS
  return isGood
    ? Result.succeed({ pubkey: event.pubkey, attestation: OwnerAttestation.ofEvent(schnorr, event) })
    : Result.fail(VERIFICATION_FAILED)
}
