/**
 * What a person's home page shows (`feed_types`, an extension of the relay): who mentioned them, what waits for them, and what
 * was said in the channels they read.
 */
import * as EventKind from "../EventKind.ts"
import type { Filter } from "../Filter.ts"
import * as EventStore from "./EventStore.ts"

/** Rows of one filter. */
export const ROWS = { default: 20, max: 100 }

const MESSAGES = [EventKind.Message, EventKind.MessageV2, EventKind.Diff, EventKind.ForumPost, EventKind.ForumComment]
const ACTIONS = [EventKind.Reminder, EventKind.ApprovalRequested]

/** The newest of the types that the filter asks for, each event once. Of the filter itself only times and limit count. */
export const run = (
  store: EventStore.EventStore,
  filter: Filter & { readonly feed_types: ReadonlyArray<string> },
  pubkey: string,
  isVisible: (stored: EventStore.StoredEvent) => boolean
): ReadonlyArray<EventStore.StoredEvent> => {
  const limit = Math.min(filter.limit ?? ROWS.default, ROWS.max)
  const { since, until } = filter
  const times = { ...(since === undefined ? {} : { since }), ...(until === undefined ? {} : { until }) }
  const inChannels = (row: EventStore.StoredEvent) => row.channelId !== undefined && isVisible(row)
  const found = new Map<string, EventStore.StoredEvent>()
  for (const type of new Set(filter.feed_types))
    for (const asked of FILTERS.get(type)?.(pubkey) ?? [])
      for (const row of EventStore.query(store, { ...asked, ...times, limit }, inChannels)) found.set(row.event.id, row)
  return EventStore.inOrder([...found.values()]).slice(0, limit)
}

const activity = (): ReadonlyArray<Filter> => [{ kinds: MESSAGES }]

/** What no type of the relay's is yields nothing. */
const FILTERS = new Map<string, (pubkey: string) => ReadonlyArray<Filter>>([
  ["mentions", (pubkey) => [{ kinds: MESSAGES, "#p": [pubkey] }]],
  ["needs_action", (pubkey) => [{ kinds: ACTIONS, "#p": [pubkey] }]],
  ["activity", activity],
  ["agent_activity", activity]
])
