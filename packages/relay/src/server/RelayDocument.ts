/**
 * What the relay says about itself (NIP-11).
 */
import * as Subscriptions from "./Subscriptions.ts"
import * as ClientMessage from "./ClientMessage.ts"

/** The document, as JSON. `pubkey` is the relay's own key. */
export const make = (pubkey: string) => ({
  name: "Buzz Orchestra embedded relay",
  description: "In-process relay with the Buzz rules, in memory",
  pubkey: null,
  contact: null,
  supported_nips: [1, 2, 10, 11, 16, 25, 29, 33, 42, 45, 98],
  software: "buzz-orchestra",
  version: "0.1.0",
  limitation: {
    max_message_length: 65_536,
    max_subscriptions: Subscriptions.MAX_SUBSCRIPTIONS,
    max_filters: Subscriptions.MAX_FILTERS,
    max_limit: 10_000,
    max_subid_length: ClientMessage.MAX_SUBSCRIPTION_ID_BYTES,
    min_pow_difficulty: null,
    auth_required: true,
    payment_required: false,
    restricted_writes: true
  },
  self: pubkey
})
