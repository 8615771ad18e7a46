/**
 * A filter as `Filter.matches` takes it, whose long lists are looked up and not searched: one that names ten thousand keys costs
 * no more per event than one that names ten, so nobody keeps the relay busy with a question.
 */
import type { Filter } from "../Filter.ts"

/** Lists up to this length are searched. */
const SHORT = 16

/** The same filter, for many events. */
export const make = (filter: Filter): Filter =>
  Object.fromEntries(
    Object.entries(filter).map(([key, value]) => [key, Array.isArray(value) ? lookedUp<unknown>(value) : value])
  )

const lookedUp = <A>(list: ReadonlyArray<A>): ReadonlyArray<A> => {
  if (list.length <= SHORT) return list
  const known = new Set(list)
  return Object.assign([...list], { includes: (item: A) => known.has(item) })
}
