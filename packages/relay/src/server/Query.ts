/**
 * Answers filters from the relay's state, as one key may see it, with the relay's extensions: `before_id`, `depth_limit`,
 * `feed_types`, `search` and presence.
 */
import { HashMap, Option, Result } from "effect"
import * as EventKind from "../EventKind.ts"
import { type Filter, parse } from "../Filter.ts"
import type { NostrEvent } from "../NostrEvent.ts"
import * as EventStore from "./EventStore.ts"
import * as Feed from "./Feed.ts"
import * as RelayState from "./RelayState.ts"
import * as Search from "./Search.ts"

/** A filter as `POST /query` takes it. */
export interface QueryFilter extends Filter {
  /** With exactly one `#e`: read the replies below that event, down to this depth, instead of matching. */
  readonly depth_limit?: number
  /** Read a person's feed instead, see `Feed`. */
  readonly feed_types?: ReadonlyArray<string>
}

/** Filters of one request over HTTP. The real relay has no such bound, and no client comes near it. */
export const MAX_FILTERS = 20

/** Reads the body of `/query` and `/count`. The failure is a sentence about the offending field. */
export const parseFilters = (value: unknown): Result.Result<ReadonlyArray<QueryFilter>, string> => {
  if (!Array.isArray(value)) return Result.fail("expected an array of filters")
  return value.length > MAX_FILTERS
    ? Result.fail(`too many filters (${value.length}, at most ${MAX_FILTERS})`)
    : Result.all(value.map(parseFilter))
}

/** All results of the first filter, then of the next. What two filters find is there twice. */
export const run = (
  state: RelayState.RelayState,
  rules: RelayState.RelayRules,
  request: { readonly filters: ReadonlyArray<QueryFilter>; readonly pubkey: string; readonly now: number }
): ReadonlyArray<NostrEvent> => {
  const { filters, now, pubkey } = request
  if (filters.every(asksPresence)) return presence(state, rules, filters, now)
  const isVisible = (stored: EventStore.StoredEvent) => RelayState.maySee(state, stored, pubkey)
  const ofKind = (kind: string) => filters.filter((filter) => kindOf(filter) === kind)
  const rows = Search.asks(filters)
    ? Search.run(state.store, filters, isVisible)
    : [
        ...ofKind("feed").flatMap(({ feed_types = [], ...filter }) =>
          Feed.run(state.store, { ...filter, feed_types }, pubkey, isVisible)
        ),
        ...ofKind("thread").flatMap((filter) => thread(state, filter).filter(isVisible)),
        ...ofKind("ordinary").flatMap((filter) => EventStore.query(state.store, oneChannel(filter), isVisible))
      ]
  return rows.map(({ event }) => event)
}

const kindOf = (filter: QueryFilter): "feed" | "thread" | "ordinary" => {
  if (filter.feed_types !== undefined) return "feed"
  return threadRoot(filter) === undefined ? "ordinary" : "thread"
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

/** What a new subscription gets before `EOSE`: per filter the newest first, each event once. A search gets what it finds. */
export const history = (
  state: RelayState.RelayState,
  { filters, pubkey }: { readonly filters: ReadonlyArray<Filter>; readonly pubkey: string }
): ReadonlyArray<NostrEvent> => {
  const isVisible = (stored: EventStore.StoredEvent) => RelayState.maySee(state, stored, pubkey)
  if (Search.asks(filters)) return Search.run(state.store, filters, isVisible).map(({ event }) => event)
  const found = new Map<string, NostrEvent>()
  for (const filter of filters)
    for (const { event } of EventStore.query(state.store, filter, isVisible)) found.set(event.id, event)
  return [...found.values()]
}

const THREAD_ROWS = { default: 100, max: 500 }

/** Extensions that are not what they should be are ignored, as unknown fields are. */
const parseFilter = (value: unknown): Result.Result<QueryFilter, string> =>
  Result.map(parse(value), (filter): QueryFilter => {
    const { depth_limit: depth, feed_types: types } = value as Readonly<Record<string, unknown>>
    const isDepth = typeof depth === "number" && Number.isSafeInteger(depth) && depth >= 0
    const isTypes = Array.isArray(types) && types.every((type) => typeof type === "string")
    return { ...filter, ...(isDepth ? { depth_limit: depth } : {}), ...(isTypes ? { feed_types: types } : {}) }
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
