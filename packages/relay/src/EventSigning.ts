/**
 * Ids and signatures of events (NIP-01). Pure: the curve comes in as a value, the time stands in the template.
 */
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import { Redacted } from "effect"
import * as Sha256 from "./internal/sha256.ts"
import { type EventTemplate, type NostrEvent, serialize } from "./NostrEvent.ts"
import type { SchnorrOps } from "./Schnorr.ts"

/** The sha256 (64 hex) of the event's canonical form. */
export const eventId = (event: EventTemplate & { readonly pubkey: string }): string => Sha256.hex(serialize(event))

/** Signs as the owner of `secretKey` (64 hex). Throws a `RangeError` when that is no key; an `Identity` always holds one. */
export const signEvent = (
  schnorr: SchnorrOps,
  template: EventTemplate,
  secretKey: Redacted.Redacted<string>
): NostrEvent => {
  const secret = hexToBytes(Redacted.value(secretKey))
  const unsigned = {
    pubkey: publicKeyOf(schnorr, secretKey, secret),
    created_at: template.created_at,
    kind: template.kind,
    tags: template.tags,
    content: template.content
  }
  const id = eventId(unsigned)
  return { id, ...unsigned, sig: bytesToHex(schnorr.sign(hexToBytes(id), secret)) }
}

/**
 * Whether id and signature belong to the event's content and author. Both are computed again from the fields each time:
 * a verdict cached on the object (as nostr-tools keeps it) would survive a spread with changed content.
 */
export const verifyEvent = (schnorr: SchnorrOps, event: NostrEvent): boolean => {
  if (eventId(event) !== event.id) return false
  try {
    return schnorr.verify(hexToBytes(event.sig), hexToBytes(event.id), event.pubkey)
  } catch {
    return false
  }
}

/** Deriving the public key costs as much as a signature, and identities sign often. */
const publicKeys = new WeakMap<Redacted.Redacted<string>, string>()

const publicKeyOf = (schnorr: SchnorrOps, secretKey: Redacted.Redacted<string>, secret: Uint8Array): string => {
  const known = publicKeys.get(secretKey)
  if (known !== undefined) return known
  const pubkey = schnorr.publicKey(secret)
  publicKeys.set(secretKey, pubkey)
  return pubkey
}
