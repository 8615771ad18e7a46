/**
 * Events in the relay's order, newest first, as an immutable value. Kept in short runs, so that adding one copies a
 * run and not the whole, however many there are.
 */
import { newestFirst } from "../Filter.ts"
import type { StoredEvent } from "./EventStore.ts"

/** Runs in order, none empty, and the events of each run in order. */
export type EventIndex = ReadonlyArray<ReadonlyArray<StoredEvent>>

/** A longer run is cut in two. */
export const MAX_RUN = 128

/** No events. */
export const empty: EventIndex = []

/** With this event at its place. It must not be there already. */
export const insert = (index: EventIndex, stored: StoredEvent): EventIndex => {
  if (index.length === 0) return [[stored]]
  const at = Math.min(runOf(index, stored), index.length - 1)
  const run = index[at] ?? []
  const grown = run.toSpliced(placeIn(run, stored), 0, stored)
  const half = grown.length >> 1
  return grown.length <= MAX_RUN
    ? index.with(at, grown)
    : index.toSpliced(at, 1, grown.slice(0, half), grown.slice(half))
}

/** Without the event with this one's id and time. */
export const remove = (index: EventIndex, stored: StoredEvent): EventIndex => {
  const at = runOf(index, stored)
  const kept = (index[at] ?? []).filter((row) => row.event.id !== stored.event.id)
  return kept.length > 0 ? index.with(at, kept) : index.toSpliced(at, 1)
}

/**
 * The events of several indexes in the relay's order, one by one: whoever needs ten of a hundred thousand does not wait for the
 * others.
 */
export function* merged(indexes: ReadonlyArray<EventIndex>): Generator<StoredEvent> {
  const [only] = indexes
  if (only !== undefined && indexes.length === 1) {
    for (const run of only) yield* run
    return
  }
  const heads = indexes.flatMap((index) => {
    const rest = merged([index])
    const head = rest.next()
    return head.done === true ? [] : [{ head: head.value, rest }]
  })
  while (heads.length > 0) {
    let first = 0
    for (let at = 1; at < heads.length; at++) if (isBefore(heads[at]?.head, heads[first]?.head)) first = at
    const next = heads[first]
    if (next === undefined) return
    yield next.head
    const following = next.rest.next()
    if (following.done === true) heads.splice(first, 1)
    else next.head = following.value
  }
}

/**
 * The first run that does not end before this event; new events belong into the first run, so the search starts
 * there.
 */
const runOf = (index: EventIndex, stored: StoredEvent): number => {
  const at = index.findIndex((run) => !isBefore(run.at(-1), stored))
  return at === -1 ? index.length : at
}

const placeIn = (run: ReadonlyArray<StoredEvent>, stored: StoredEvent): number => {
  const at = run.findIndex((row) => !isBefore(row, stored))
  return at === -1 ? run.length : at
}

const isBefore = (row: StoredEvent | undefined, stored: StoredEvent | undefined): boolean =>
  row !== undefined && stored !== undefined && newestFirst(row.event, stored.event) < 0
