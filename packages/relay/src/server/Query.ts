/**
 * Answers filters from the relay's state, as one key may see it. Of the relay's extensions it knows `before_id`,
 * `depth_limit` and presence; `feed_types` is ignored, and without a search engine a `search` finds nothing.
 */
import { HashMap, Option, Result } from "effect"
import * as EventKind from "../EventKind.ts"
import { type Filter, parse } from "../Filter.ts"
import type { NostrEvent } from "../NostrEvent.ts"
import * as EventStore from "./EventStore.ts"
import * as RelayState from "./RelayState.ts"

/** A filter as `POST /query` takes it. */
export interface QueryFilter extends Filter {
  /** With exactly one `#e`: read the replies below that event, down to this depth, instead of matching. */
  readonly depth_limit?: number
}

/** Reads the body of `/query` and `/count`. The failure is a sentence about the offending field. */
export const parseFilters = (value: unknown): Result.Result<ReadonlyArray<QueryFilter>, string> =>
  Array.isArray(value) ? Result.all(value.map(parseFilter)) : Result.fail("expected an array of filters")

/** All results of the first filter, then of the next. What two filters find is there twice. */
export const run = (
  state: RelayState.RelayState,
  rules: RelayState.RelayRules,
  request: { readonly filters: ReadonlyArray<QueryFilter>; readonly pubkey: string; readonly now: number }
): ReadonlyArray<NostrEvent> => {
  const { filters, now, pubkey } = request
  if (filters.every(asksPresence)) return presence(state, rules, filters, now)
  if (filters.some((filter) => filter.search !== undefined)) return []
  const isVisible = (stored: EventStore.StoredEvent) => RelayState.maySee(state, stored, pubkey)
  const threads = filters.filter((filter) => threadRoot(filter) !== undefined)
  const ordinary = filters.filter((filter) => threadRoot(filter) === undefined)
  return [
    ...threads.flatMap((filter) => thread(state, filter).filter(isVisible)),
    ...ordinary.flatMap((filter) => EventStore.query(state.store, oneChannel(filter), isVisible))
  ].map(({ event }) => event)
}

/** The sum over all filters. */
export const count = (
  state: RelayState.RelayState,
  request: { readonly filters: ReadonlyArray<Filter>; readonly pubkey: string }
): number =>
  request.filters.reduce(
    (total, filter) =>
      total + EventStore.count(state.store, filter, (stored) => RelayState.maySee(state, stored, request.pubkey)),
    0
  )

/** What a new subscription gets before `EOSE`: per filter the newest first, each event once. */
export const history = (
  state: RelayState.RelayState,
  request: { readonly filters: ReadonlyArray<Filter>; readonly pubkey: string }
): ReadonlyArray<NostrEvent> => {
  const found = new Map<string, NostrEvent>()
  for (const filter of request.filters)
    for (const { event } of EventStore.query(state.store, filter, (row) =>
      RelayState.maySee(state, row, request.pubkey)
    ))
      found.set(event.id, event)
  return [...found.values()]
}

const THREAD_ROWS = { default: 100, max: 500 }

const parseFilter = (value: unknown): Result.Result<QueryFilter, string> =>
  Result.map(parse(value), (filter): QueryFilter => {
    const depth = (value as { readonly depth_limit?: unknown }).depth_limit
    return typeof depth === "number" && Number.isSafeInteger(depth) && depth >= 0
      ? { ...filter, depth_limit: depth }
      : filter
  })

const threadRoot = (filter: QueryFilter): string | undefined =>
  filter.depth_limit !== undefined && filter["#e"]?.length === 1 ? filter["#e"][0] : undefined

const thread = (state: RelayState.RelayState, filter: QueryFilter): ReadonlyArray<EventStore.StoredEvent> =>
  EventStore.descendants(state.store, threadRoot(filter) ?? "", filter.depth_limit ?? 0).slice(
    0,
    Math.min(filter.limit ?? THREAD_ROWS.default, THREAD_ROWS.max)
  )

/**
 * Over HTTP the relay looks at one channel only, whatever else the filter names: a trap that clients must meet here
 * too.
 */
const oneChannel = (filter: Filter): Filter => {
  const [channelId] = filter["#h"]?.toSorted() ?? []
  return channelId === undefined ? filter : { ...filter, "#h": [channelId] }
}

const asksPresence = (filter: Filter): boolean =>
  filter.kinds?.length === 1 &&
  (filter.kinds[0] === EventKind.Presence || filter.kinds[0] === EventKind.PresenceSnapshot) &&
  filter.authors !== undefined &&
  filter.authors.length > 0

/** Made up for the answer and signed by the relay; keys without a current status are absent. */
const presence = (
  state: RelayState.RelayState,
  rules: RelayState.RelayRules,
  filters: ReadonlyArray<Filter>,
  now: number
): ReadonlyArray<NostrEvent> =>
  [...new Set(filters.flatMap((filter) => filter.authors ?? []))].flatMap((pubkey) => {
    const known = Option.getOrUndefined(HashMap.get(state.presence, pubkey))
    return known === undefined || now - known.at > RelayState.PRESENCE_SECONDS
      ? []
      : [rules.sign({ kind: EventKind.Presence, created_at: now, content: known.status, tags: [["p", pubkey]] })]
  })
