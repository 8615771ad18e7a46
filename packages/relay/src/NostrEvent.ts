/**
 * The shape of a Nostr event (NIP-01), its id, and nothing else: signing and verifying need `Schnorr`, see `EventSigning`.
 */
import { Schema } from "effect"

/** 64 lower-case hex digits: an event id, an x-only public key, a sha256. */
export const Hex64 = Schema.String.pipe(Schema.check(Schema.isPattern(/^[0-9a-f]{64}$/)))

/** 128 lower-case hex digits: a BIP-340 signature. */
export const Hex128 = Schema.String.pipe(Schema.check(Schema.isPattern(/^[0-9a-f]{128}$/)))

/** One tag: a non-empty list of strings, the first is its name. */
export const Tag = Schema.NonEmptyArray(Schema.String)
/** A non-empty list of strings; the first is its name. */
export type Tag = typeof Tag.Type

/** A signed event as it stands on the wire. `created_at` is in whole seconds, set by the author's clock: it orders nothing. */
export const NostrEvent = Schema.Struct({
  id: Hex64,
  pubkey: Hex64,
  created_at: Schema.Int,
  kind: Schema.Int,
  tags: Schema.Array(Tag),
  content: Schema.String,
  sig: Hex128
})
/** A signed event as it stands on the wire. */
export type NostrEvent = typeof NostrEvent.Type

/** What an author decides about an event; id, public key and signature follow from it and the key. */
export interface EventTemplate {
  readonly kind: number
  /** Seconds since the epoch. */
  readonly created_at: number
  readonly tags: ReadonlyArray<Tag>
  readonly content: string
}

/** The bytes whose sha256 is the event's id (NIP-01). */
export const serialize = (event: EventTemplate & { readonly pubkey: string }): string =>
  JSON.stringify([0, event.pubkey, event.created_at, event.kind, event.tags, event.content])

/** The second elements of all tags with this name, in order. */
export const tagValues = (event: Pick<NostrEvent, "tags">, name: string): ReadonlyArray<string> =>
  event.tags.flatMap((tag) => (tag[0] === name && tag[1] !== undefined ? [tag[1]] : []))
