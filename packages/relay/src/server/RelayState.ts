/**
 * Everything the relay remembers, as one immutable value, and what does not change while it runs. Pure modules take
 * both and return a new state.
 */
import { HashMap, Option, Schema } from "effect"
import * as EventKind from "../EventKind.ts"
import type { EventTemplate, NostrEvent } from "../NostrEvent.ts"
import type { SchnorrOps } from "../Schnorr.ts"
import * as Channel from "./Channel.ts"
import type { TargetFacts } from "./ChannelRules.ts"
import * as EventStore from "./EventStore.ts"
import * as ReplayWindow from "./ReplayWindow.ts"
import type { Subscription } from "./Subscriptions.ts"

/** One WebSocket connection. */
export interface Connection {
  /** 64 hex, sent with the greeting; the client signs it. */
  readonly challenge: string
  /** A failed authentication is final for the connection. */
  readonly auth:
    | { readonly _tag: "Waiting" }
    | { readonly _tag: "Failed" }
    | { readonly _tag: "Passed"; readonly pubkey: string }
  readonly subscriptions: ReadonlyMap<string, Subscription>
}

/** The relay at one moment. */
export interface RelayState {
  readonly store: EventStore.EventStore
  readonly channels: HashMap.HashMap<string, Channel.Channel>
  readonly connections: HashMap.HashMap<number, Connection>
  /** Agent to the owner that attested it, as first seen when the agent authenticated. */
  readonly owners: HashMap.HashMap<string, string>
  /** Key to what it last said about its presence. */
  readonly presence: HashMap.HashMap<string, { readonly status: string; readonly at: number }>
  /** Used ids of HTTP authorisations. */
  readonly replays: ReplayWindow.ReplayWindow
}

/** What is fixed when the relay starts. */
export interface RelayRules {
  /** The relay's own public key. */
  readonly pubkey: string
  readonly schnorr: SchnorrOps
  /** Signs as the relay. */
  readonly sign: (template: EventTemplate) => NostrEvent
  /** The `ws(s)://` URLs under which clients may dial this relay; the first is the canonical one. */
  readonly urls: readonly [string, ...ReadonlyArray<string>]
  /** Owner of a closed relay, which admits that key and the keys it attested; absent for an open relay. */
  readonly closedTo: string | undefined
  /** How far an event's `created_at` may lie from the relay's clock. */
  readonly clockSkewSeconds: number
}

/** A relay that has just started. */
export const empty: RelayState = {
  store: EventStore.empty,
  channels: HashMap.empty(),
  connections: HashMap.empty(),
  owners: HashMap.empty(),
  presence: HashMap.empty(),
  replays: ReplayWindow.empty
}

/** The real relay's tolerance for `created_at`. */
export const CLOCK_SKEW_SECONDS = 900

/** A presence that was not repeated for this long no longer holds. */
export const PRESENCE_SECONDS = 90

/** The channel with this id, also a deleted one. */
export const channel = (state: RelayState, id: string): Channel.Channel | undefined =>
  Option.getOrUndefined(HashMap.get(state.channels, id))

/** The connection with this number, while it is open. */
export const connection = (state: RelayState, id: number): Connection | undefined =>
  Option.getOrUndefined(HashMap.get(state.connections, id))

/** Whether this key may read and write in the channel with this id. */
export const mayAccess = (state: RelayState, channelId: string, pubkey: string): boolean =>
  Channel.isAccessible(channel(state, channelId), pubkey)

/**
 * Whether this key may see an event: channel events need access to the channel; kinds that are for one reader's eyes
 * are shown to their author and to the keys in `p` only.
 */
export const maySee = (state: RelayState, stored: EventStore.StoredEvent, pubkey: string): boolean => {
  if (stored.channelId !== undefined) return mayAccess(state, stored.channelId, pubkey)
  if (!EventKind.P_GATED.has(stored.event.kind)) return true
  return stored.event.pubkey === pubkey || stored.event.tags.some((tag) => tag[0] === "p" && tag[1] === pubkey)
}

/**
 * Whether a closed relay lets this key in; an open one lets in all. `owner` is who attested the key, if anybody did.
 */
export const admits = (rules: RelayRules, pubkey: string, owner: string | undefined): boolean =>
  rules.closedTo === undefined || rules.closedTo === pubkey || rules.closedTo === owner

/** What is known about a key that is to be added to a channel or removed. */
export const factsAbout = (state: RelayState, pubkey: string): TargetFacts => ({
  addPolicy: addPolicyOf(EventStore.atAddress(state.store, `${EventKind.AgentProfile}:${pubkey}:`)),
  owner: Option.getOrUndefined(HashMap.get(state.owners, pubkey))
})

const AgentProfileContent = Schema.fromJsonString(Schema.Struct({ channel_add_policy: Schema.String }))
const decodeAgentProfile = Schema.decodeUnknownOption(AgentProfileContent)

/** A profile that says nothing readable restricts nothing. */
const addPolicyOf = (profile: EventStore.StoredEvent | undefined): string =>
  Option.match(decodeAgentProfile(profile?.event.content), {
    onNone: () => "anyone",
    onSome: (content) => content.channel_add_policy
  })
