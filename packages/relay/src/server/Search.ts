/**
 * Full text (NIP-50): an event is found by all words of the search, in any order, wherever they stand in its content, whatever
 * their case. The newest come first; the real relay's engine has an order of its own.
 */
import type { Filter } from "../Filter.ts"
import * as EventStore from "./EventStore.ts"

/** Rows of one search. */
export const ROWS = { default: 100, max: 500 }

/** Whether any of the filters searches; then those that do not are not looked at. */
export const asks = (filters: ReadonlyArray<Filter>): boolean => filters.some((filter) => filter.search !== undefined)

/** What the filters that search find, each event once. */
export const run = (
  store: EventStore.EventStore,
  filters: ReadonlyArray<Filter>,
  isVisible: (stored: EventStore.StoredEvent) => boolean
): ReadonlyArray<EventStore.StoredEvent> => {
  const found = new Map<string, EventStore.StoredEvent>()
  for (const filter of filters) {
    if (filter.search === undefined) continue
    const words = wordsOf(filter.search)
    if (words.length === 0) continue
    const limit = Math.min(filter.limit ?? ROWS.default, ROWS.max)
    const isFound = (row: EventStore.StoredEvent) => isVisible(row) && hasAll(row.event.content, words)
    for (const row of EventStore.query(store, { ...filter, limit }, isFound)) found.set(row.event.id, row)
  }
  return [...found.values()]
}

const wordsOf = (text: string): ReadonlyArray<string> =>
  text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")

const hasAll = (content: string, words: ReadonlyArray<string>): boolean => {
  const text = content.toLowerCase()
  return words.every((word) => text.includes(word))
}
