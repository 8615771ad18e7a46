/**
 * Which events count as a channel's history, and how it is read page by page to its root. Pure.
 */
import * as EventKind from "./EventKind.ts"
import { type Filter, oldestFirst } from "./Filter.ts"
import { type NostrEvent, tagValues } from "./NostrEvent.ts"
import { RelayReplyMalformed } from "./RelayError.ts"

/** Messages, their edits and deletions. */
export const KINDS: ReadonlyArray<number> = [
  EventKind.Message,
  EventKind.MessageV2,
  EventKind.MessageEdit,
  EventKind.Deletion,
  EventKind.DeleteMessage
]

/** Rows per page. A relay returns at most 1000, whatever it advertises. */
export const PAGE_SIZE = 500

/**
 * Whether the event belongs to the channel. Reactions and deletions name no channel themselves: for them the relay's answer
 * to a filter for this channel is all there is.
 */
export const belongsTo = (event: NostrEvent, channelId: string): boolean => {
  const channels = tagValues(event, "h")
  return channels.length === 0
    ? event.kind === EventKind.Deletion || event.kind === EventKind.Reaction
    : channels.includes(channelId)
}

/**
 * The order in which a history is read: the oldest first, and whatever refers to another of these events after it, also when
 * its author's clock was behind, or both are of one second.
 */
export const inReadingOrder = (events: ReadonlyArray<NostrEvent>): ReadonlyArray<NostrEvent> => {
  const byId = new Map(events.map((event) => [event.id, event]))
  const ordered: Array<NostrEvent> = []
  // By hand instead of by recursion: somebody may have made a very long chain.
  const pending: Array<NostrEvent> = []
  const begun = new Set<string>()
  const begin = (event: NostrEvent) => {
    begun.add(event.id)
    pending.push(event)
  }
  for (const event of events.toSorted(oldestFirst)) {
    if (!begun.has(event.id)) begin(event)
    for (let top = pending.at(-1); top !== undefined; top = pending.at(-1)) {
      const before = tagValues(top, "e").find((id) => byId.has(id) && !begun.has(id))
      const missing = before === undefined ? undefined : byId.get(before)
      if (missing !== undefined) begin(missing)
      else {
        ordered.push(top)
        pending.pop()
      }
    }
  }
  return ordered
}

/** The filter for the page after `last`, the last event so far in the relay's order; for the newest page without it. */
export const page = (channelId: string, kinds: ReadonlyArray<number>, last: NostrEvent | undefined): Filter => ({
  kinds,
  "#h": [channelId],
  limit: PAGE_SIZE,
  ...(last === undefined ? {} : { until: last.created_at, before_id: last.id })
})

/**
 * What a page means for the reading. A relay that does not know `before_id` repeats the last second: as long as a page
 * brings something new it goes on, and a full page without anything new cannot be read past.
 */
export const afterPage = (size: number, fresh: number, limit = PAGE_SIZE): "continue" | "complete" | "stuck" =>
  fresh > 0 ? "continue" : size < limit ? "complete" : "stuck"

/** Why a reading cannot go on. */
export const stuck = (url: string, limit: number): RelayReplyMalformed =>
  new RelayReplyMalformed({
    url,
    detail: `more than ${limit} events in one second, and the relay cannot page within it`
  })
