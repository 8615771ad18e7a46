/**
 * What the relay says about itself (NIP-11).
 */
import * as Subscriptions from "./Subscriptions.ts"
import type { RelayRules } from "./RelayState.ts"
import * as ClientMessage from "./ClientMessage.ts"

/** The document, as JSON. */
export const make = ({ closed, pubkey }: Pick<RelayRules, "closed" | "pubkey">) => ({
  name: "Buzz Orchestra embedded relay",
  description: "A relay with the Buzz rules",
  pubkey: null,
  contact: null,
  supported_nips: [...NIPS, ...(closed === undefined ? [] : [43])].toSorted((a, b) => a - b),
  software: "buzz-orchestra",
  version: "0.1.0",
  limitation: {
    max_message_length: 65_536,
    max_subscriptions: Subscriptions.MAX_SUBSCRIPTIONS,
    max_filters: Subscriptions.MAX_FILTERS,
    // The real relay's word; a query yields a thousand rows at most.
    max_limit: 10_000,
    max_subid_length: ClientMessage.MAX_SUBSCRIPTION_ID_BYTES,
    min_pow_difficulty: null,
    auth_required: true,
    payment_required: false,
    restricted_writes: true
  },
  self: pubkey
})

const NIPS = [1, 2, 10, 11, 16, 17, 23, 25, 29, 33, 38, 42, 45, 50, 98]
