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
import * as Connections from "./Connections.ts"
import * as EventStore from "./EventStore.ts"
import type { Hosted } from "./Hosts.ts"
import type { RelayMembers } from "./RelayMembers.ts"
import type { Change, Snapshot } from "./RelayStore.ts"
import * as ReplayWindow from "./ReplayWindow.ts"

/** The relay at one moment. */
export interface RelayState {
  readonly store: EventStore.EventStore
  readonly channels: HashMap.HashMap<string, Channel.Channel>
  readonly connections: Connections.Connections
  /** Whom a closed relay admits by name. */
  readonly members: RelayMembers
  /** Agent to the owner that attested it, as first seen when the agent authenticated. */
  readonly owners: HashMap.HashMap<string, string>
  /** Key to what it last said about its presence. */
  readonly presence: HashMap.HashMap<string, { readonly status: string; readonly at: number }>
  /** Used ids of HTTP authorisations. */
  readonly replays: ReplayWindow.ReplayWindow
  /** What happened to all of this that a restarted relay must know, and is not in its store yet. */
  readonly unsaved: ReadonlyArray<Change>
}

/** What is fixed when the relay starts. */
export interface RelayRules extends Hosted {
  /** The relay's own public key. */
  readonly pubkey: string
  readonly schnorr: SchnorrOps
  /** Signs as the relay. */
  readonly sign: (template: EventTemplate) => NostrEvent
  /** A closed relay admits its members, of whom this is the owner; absent for an open relay. */
  readonly closed:
    | {
        readonly owner: string
        /** Whether it also admits keys that a member attested. */
        readonly admitsAttested: boolean
      }
    | undefined
  /** How far an event's `created_at` may lie from the relay's clock. */
  readonly clockSkewSeconds: number
  /** How much it keeps, as `EventStore.bytes` counts it; then it takes nothing but deletions. */
  readonly maxStoredBytes: number
}

/** A relay that has just started. */
export const empty: RelayState = {
  store: EventStore.empty,
  channels: HashMap.empty(),
  connections: Connections.empty,
  members: new Map(),
  owners: HashMap.empty(),
  presence: HashMap.empty(),
  replays: ReplayWindow.empty,
  unsaved: []
}

/** A relay that goes on with what one before it has kept. */
export const restored = ({ channels, events, gone, members, owners }: Snapshot): RelayState => ({
  ...empty,
  store: EventStore.restored(events, gone),
  channels: HashMap.fromIterable(channels.map((channel) => [channel.id, channel])),
  owners: HashMap.fromIterable(owners),
  members: new Map(members)
})

/** With a new event, or `undefined` when that changes nothing, see `EventStore.insert`. */
export const withEvent = (state: RelayState, stored: EventStore.StoredEvent): RelayState | undefined => {
  const store = EventStore.insert(state.store, stored)
  if (store === undefined) return undefined
  const address = EventStore.addressOf(stored)
  const replaced = address === undefined ? undefined : EventStore.atAddress(state.store, address)
  const removal: ReadonlyArray<Change> = replaced === undefined ? [] : [{ _tag: "Removed", id: replaced.event.id }]
  return { ...state, store, unsaved: [...state.unsaved, ...removal, { _tag: "Stored", stored }] }
}

/** Without this event, for good. */
export const withoutEvent = (state: RelayState, id: string): RelayState => ({
  ...state,
  store: EventStore.remove(state.store, id),
  unsaved: [...state.unsaved, { _tag: "Removed", id }]
})

/** With this channel as it is now. */
export const withChannel = (state: RelayState, changed: Channel.Channel): RelayState => ({
  ...state,
  channels: HashMap.set(state.channels, changed.id, changed),
  unsaved: [...state.unsaved, { _tag: "Channel", channel: changed }]
})

/** With this owner of an agent; the first one that was seen stays. */
export const withOwner = (state: RelayState, agent: string, owner: string): RelayState =>
  HashMap.has(state.owners, agent)
    ? state
    : {
        ...state,
        owners: HashMap.set(state.owners, agent, owner),
        unsaved: [...state.unsaved, { _tag: "Owner", agent, owner }]
      }

/** With these members of a closed relay. */
export const withMembers = (state: RelayState, members: RelayMembers): RelayState => ({
  ...state,
  members,
  unsaved: [
    ...state.unsaved,
    ...[...new Set([...state.members.keys(), ...members.keys()])].flatMap((pubkey): ReadonlyArray<Change> => {
      const role = members.get(pubkey)
      return role === state.members.get(pubkey) ? [] : [{ _tag: "Member", pubkey, role }]
    })
  ]
})

/** The real relay's tolerance for `created_at`. */
export const CLOCK_SKEW_SECONDS = 900

/** A presence that was not repeated for this long no longer holds. */
export const PRESENCE_SECONDS = 90

/** The channel with this id, also a deleted one. */
export const channel = (state: RelayState, id: string): Channel.Channel | undefined =>
  Option.getOrUndefined(HashMap.get(state.channels, id))

/** Whether this key may read and write in the channel with this id. */
export const mayAccess = (state: RelayState, channelId: string, pubkey: string): boolean =>
  Channel.isAccessible(channel(state, channelId), pubkey)

/**
 * Whether this key may see an event: channel events need access to the channel; kinds that are for one reader's eyes
 * are shown to their author and to the keys in `p` only.
 */
export const maySee = (state: RelayState, stored: EventStore.StoredEvent, pubkey: string): boolean =>
  readersOf(state, stored)(pubkey)

/** `maySee` for one event and many keys. */
export const readersOf = (state: RelayState, { channelId, event }: EventStore.StoredEvent) => {
  if (channelId !== undefined) {
    const found = channel(state, channelId)
    return (pubkey: string): boolean => Channel.isAccessible(found, pubkey)
  }
  if (!EventKind.P_GATED.has(event.kind)) return (): boolean => true
  return (pubkey: string): boolean =>
    event.pubkey === pubkey || event.tags.some((tag) => tag[0] === "p" && tag[1] === pubkey)
}

/**
 * Whether a closed relay lets this key in; an open one lets in all. `owner` is who attested the key, if anybody did.
 */
export const admits = (state: RelayState, rules: RelayRules, pubkey: string, owner: string | undefined): boolean => {
  if (rules.closed === undefined || state.members.has(pubkey)) return true
  return rules.closed.admitsAttested && owner !== undefined && state.members.has(owner)
}

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
