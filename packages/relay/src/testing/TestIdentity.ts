/**
 * Test facility: the same keys every time, so that tests can name who spoke. Never for anything else: these secrets are
 * known to everybody.
 */
import { hexToBytes } from "@noble/hashes/utils.js"
import { Redacted } from "effect"
import { signEvent } from "../EventSigning.ts"
import type { Identity } from "../Identity.ts"
import type { EventTemplate, NostrEvent } from "../NostrEvent.ts"
import { pure } from "../Schnorr.ts"

/** The identity whose secret is the number `n`, from 1. */
export const testIdentity = (n: number): Identity => {
  const secret = n.toString(16).padStart(64, "0")
  return {
    pubkey: pure.publicKey(hexToBytes(secret)),
    secretKey: Redacted.make(secret, { label: "secret key" }),
    authTag: undefined
  }
}

/** An event that verifies. `created_at` defaults to 1700000000, `tags` to none, `content` to nothing. */
export const signedBy = (
  identity: Identity,
  template: Partial<EventTemplate> & { readonly kind: number }
): NostrEvent => signEvent(pure, { created_at: 1_700_000_000, tags: [], content: "", ...template }, identity.secretKey)
