/**
 * The relay's events as an immutable value: kept by id, replaced by address, read in the relay's order. Knows nothing
 * about who may see what; a reader passes a predicate.
 */
import { HashMap, HashSet, Option } from "effect"
import * as EventKind from "../EventKind.ts"
import { type Filter, matches, newestFirst } from "../Filter.ts"
import { type NostrEvent, tagValues } from "../NostrEvent.ts"
import * as EventIndex from "./EventIndex.ts"
import * as PreparedFilter from "./PreparedFilter.ts"

/** Where a reply stands in its thread. */
export interface ThreadPosition {
  readonly rootId: string
  readonly parentId: string
  /** 1 for a reply to the root. */
  readonly depth: number
}

/** An event as the relay keeps it. */
export interface StoredEvent {
  readonly event: NostrEvent
  /** The channel it belongs to, which decides who sees it; absent for a global event, even one that has an `h` tag. */
  readonly channelId: string | undefined
  /** Absent for everything that is not a reply. */
  readonly thread: ThreadPosition | undefined
}

/** Events by id and address, and in the relay's order per kind and per channel. */
export interface EventStore {
  readonly byId: HashMap.HashMap<string, StoredEvent>
  readonly idByAddress: HashMap.HashMap<string, string>
  readonly byKind: HashMap.HashMap<number, EventIndex.EventIndex>
  readonly byChannel: HashMap.HashMap<string, EventIndex.EventIndex>
  /** Ids of deleted and replaced events: an event that was here once does not come back. */
  readonly gone: HashSet.HashSet<string>
  /** About how much memory all of it takes, and how much of a disk. */
  readonly bytes: number
}

/** Rows that one filter can yield at most. */
export const MAX_ROWS = 1000

/** No events. */
export const empty: EventStore = {
  byId: HashMap.empty(),
  idByAddress: HashMap.empty(),
  byKind: HashMap.empty(),
  byChannel: HashMap.empty(),
  gone: HashSet.empty(),
  bytes: 0
}

/** Everything that one event and one removed id cost beside their texts. */
const EVENT_BYTES = 512
const GONE_BYTES = 128

/** About how many bytes an event takes: its texts, and what every event costs. */
export const sizeOf = ({ content, tags }: NostrEvent): number =>
  tags.reduce((total, tag) => tag.reduce((sum, value) => sum + value.length + 4, total), EVENT_BYTES + content.length)

/** What was kept before: events that are there, each at an address of its own, and ids of those that are not. */
export const restored = (events: ReadonlyArray<StoredEvent>, gone: ReadonlyArray<string>): EventStore =>
  events.reduce((store, stored) => insert(store, stored) ?? store, {
    ...empty,
    gone: HashSet.fromIterable(gone),
    bytes: gone.length * GONE_BYTES
  })

/** The event with this id, while it is not deleted. */
export const get = (store: EventStore, id: string): StoredEvent | undefined =>
  Option.getOrUndefined(HashMap.get(store.byId, id))

/**
 * What a newer event replaces: `kind:pubkey:channel` for replaceable kinds, `kind:pubkey:d` for addressable ones,
 * nothing for all others.
 */
export const addressOf = ({ channelId, event }: Pick<StoredEvent, "channelId" | "event">): string | undefined => {
  if (EventKind.isReplaceable(event.kind)) return `${event.kind}:${event.pubkey}:${channelId ?? ""}`
  if (EventKind.isAddressable(event.kind)) return `${event.kind}:${event.pubkey}:${tagValues(event, "d")[0] ?? ""}`
  return undefined
}

/** The event that stands at an address. */
export const atAddress = (store: EventStore, address: string): StoredEvent | undefined =>
  Option.getOrUndefined(Option.flatMap(HashMap.get(store.idByAddress, address), (id) => HashMap.get(store.byId, id)))

/**
 * Adds an event, or says `undefined` when that changes nothing: it is known, was deleted, or a newer one (in the same
 * second the one with the lower id) stands at its address.
 */
export const insert = (store: EventStore, stored: StoredEvent): EventStore | undefined => {
  const { id } = stored.event
  if (HashMap.has(store.byId, id) || HashSet.has(store.gone, id)) return undefined
  const address = addressOf(stored)
  if (address === undefined) return add(store, stored)
  const incumbent = atAddress(store, address)
  if (incumbent !== undefined && newestFirst(incumbent.event, stored.event) < 0) return undefined
  const cleared = incumbent === undefined ? store : remove(store, incumbent.event.id)
  return { ...add(cleared, stored), idByAddress: HashMap.set(cleared.idByAddress, address, id) }
}

/** Deletes for good. Unknown ids are left alone. */
export const remove = (store: EventStore, id: string): EventStore => {
  const stored = get(store, id)
  if (stored === undefined) return store
  const { channelId, event } = stored
  const address = addressOf(stored)
  const without = (index: EventIndex.EventIndex) => EventIndex.remove(index, stored)
  return {
    byId: HashMap.remove(store.byId, id),
    idByAddress: address === undefined ? store.idByAddress : HashMap.remove(store.idByAddress, address),
    byKind: HashMap.modify(store.byKind, event.kind, without),
    byChannel: channelId === undefined ? store.byChannel : HashMap.modify(store.byChannel, channelId, without),
    gone: HashSet.add(store.gone, id),
    bytes: store.bytes - sizeOf(event) + GONE_BYTES
  }
}

/**
 * Events that match, newest first (in the same second the lower id first), at most `filter.limit` and never more than
 * `MAX_ROWS`. A single `#h` reads that channel's events alone.
 */
export const query = (
  store: EventStore,
  filter: Filter,
  isVisible: (stored: StoredEvent) => boolean
): ReadonlyArray<StoredEvent> => {
  const limit = Math.min(filter.limit ?? MAX_ROWS, MAX_ROWS)
  const prepared = PreparedFilter.make(filter)
  const rows: Array<StoredEvent> = []
  for (const stored of candidates(store, filter)) {
    if (rows.length >= limit) break
    if (matches(prepared, stored.event, stored.channelId) && isVisible(stored)) rows.push(stored)
  }
  return rows
}

/** How many events match. Only `filter.limit` bounds the number. */
export const count = (store: EventStore, filter: Filter, isVisible: (stored: StoredEvent) => boolean): number => {
  const limit = filter.limit ?? Infinity
  const prepared = PreparedFilter.make(filter)
  let total = 0
  for (const stored of candidates(store, filter)) {
    if (total >= limit) break
    if (matches(prepared, stored.event, stored.channelId) && isVisible(stored)) total += 1
  }
  return total
}

/** All replies below `rootId` in the store's order, whatever their kind. */
export const descendants = (store: EventStore, rootId: string, maxDepth: number): ReadonlyArray<StoredEvent> => {
  const root = get(store, rootId)
  if (root?.channelId === undefined) return []
  return bucket(store.byChannel, root.channelId)
    .flat()
    .filter(({ thread }) => thread?.rootId === rootId && thread.depth <= maxDepth)
}

const add = (store: EventStore, stored: StoredEvent): EventStore => ({
  ...store,
  bytes: store.bytes + sizeOf(stored.event),
  byId: HashMap.set(store.byId, stored.event.id, stored),
  byKind: HashMap.set(
    store.byKind,
    stored.event.kind,
    EventIndex.insert(bucket(store.byKind, stored.event.kind), stored)
  ),
  byChannel:
    stored.channelId === undefined
      ? store.byChannel
      : HashMap.set(
          store.byChannel,
          stored.channelId,
          EventIndex.insert(bucket(store.byChannel, stored.channelId), stored)
        )
})

const bucket = <K>(index: HashMap.HashMap<K, EventIndex.EventIndex>, key: K): EventIndex.EventIndex =>
  Option.getOrElse(HashMap.get(index, key), () => EventIndex.empty)

/** A superset of what the filter can match, in the relay's order, from the narrowest index. */
const candidates = (store: EventStore, filter: Filter): Iterable<StoredEvent> => {
  if (filter.ids !== undefined)
    return inOrder([...new Set(filter.ids)].map((id) => get(store, id)).filter((stored) => stored !== undefined))
  const [channelId, ...others] = filter["#h"] ?? []
  if (channelId !== undefined && others.length === 0) return EventIndex.merged([bucket(store.byChannel, channelId)])
  const kinds = [...(filter.kinds === undefined ? HashMap.keys(store.byKind) : new Set(filter.kinds))]
  return EventIndex.merged(kinds.map((kind) => bucket(store.byKind, kind)).filter((index) => index.length > 0))
}

/** The newest first, and within a second the lower id first. */
export const inOrder = (found: ReadonlyArray<StoredEvent>): ReadonlyArray<StoredEvent> =>
  found.toSorted((a, b) => newestFirst(a.event, b.event))
