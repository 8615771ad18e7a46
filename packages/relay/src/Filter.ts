/**
 * NIP-01 filters with the extension fields of the Buzz relay, and the predicate that decides whether an event matches.
 */
import { Result } from "effect"
import type { NostrEvent } from "./NostrEvent.ts"

/** What to read. Every field that is present must match; an empty list matches nothing. */
export interface Filter {
  /** Full ids, 64 hex. */
  readonly ids?: ReadonlyArray<string>
  /** Full public keys, 64 hex. */
  readonly authors?: ReadonlyArray<string>
  readonly kinds?: ReadonlyArray<number>
  /** Seconds, inclusive. */
  readonly since?: number
  /** Seconds, inclusive. */
  readonly until?: number
  /** At most this many of the newest; live delivery ignores it. */
  readonly limit?: number
  /** Full text (NIP-50); only a relay with a search engine answers it. */
  readonly search?: string
  /** Over HTTP, with `until`: of the events in that second only those with a greater id. */
  readonly before_id?: string
  /** Values of single-letter tags: `#h` is the channel, `#p` a mention, `#e` a reference, `#d` an address. */
  readonly [tag: `#${string}`]: ReadonlyArray<string> | undefined
}

/**
 * Whether the event matches. `storedChannel` is the channel under which a relay keeps an event that has no `h` tag itself
 * (a reaction, a deletion, channel state); clients leave it out. `limit` and `search` are the store's business.
 */
export const matches = (filter: Filter, event: NostrEvent, storedChannel?: string): boolean => {
  if (filter.kinds !== undefined && !filter.kinds.includes(event.kind)) return false
  if (filter.ids !== undefined && !filter.ids.includes(event.id)) return false
  if (filter.authors !== undefined && !filter.authors.includes(event.pubkey)) return false
  if (filter.since !== undefined && event.created_at < filter.since) return false
  if (filter.until !== undefined && event.created_at > filter.until) return false
  if (filter.before_id !== undefined && event.created_at === filter.until && event.id <= filter.before_id) return false
  for (const key in filter) {
    if (!isTagKey(key)) continue
    const wanted = filter[key]
    if (wanted !== undefined && !hasTag(event, key.slice(1), wanted, storedChannel)) return false
  }
  return true
}

/** Whether any of the filters matches. */
export const matchesAny = (filters: ReadonlyArray<Filter>, event: NostrEvent, storedChannel?: string): boolean =>
  filters.some((filter) => matches(filter, event, storedChannel))

/**
 * Reads a filter as the relay does: full ids and keys only, kinds up to 65535, tags of one letter, unknown keys ignored.
 * The failure is a sentence about the offending field.
 */
export const parse = (value: unknown): Result.Result<Filter, string> => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return Result.fail("a filter is an object")
  const filter: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(value)) {
    const rule = isTagKey(key) ? STRINGS : RULES.get(key)
    if (rule === undefined) continue
    if (!rule.accepts(field)) return Result.fail(`${key} must be ${rule.expected}`)
    filter[key] = field
  }
  return Result.succeed(filter as Filter)
}

/** The newest first, and within a second the smaller id first: the order of a relay's answers. */
export const newestFirst = (a: NostrEvent, b: NostrEvent): number => b.created_at - a.created_at || compareIds(a, b)

/** The oldest first, and within a second the smaller id first: the order in which people read. */
export const oldestFirst = (a: NostrEvent, b: NostrEvent): number => a.created_at - b.created_at || compareIds(a, b)

const compareIds = (a: NostrEvent, b: NostrEvent): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

const isTagKey = (key: string): key is `#${string}` => /^#[a-zA-Z]$/.test(key)

const hasTag = (
  event: NostrEvent,
  name: string,
  wanted: ReadonlyArray<string>,
  storedChannel: string | undefined
): boolean => {
  let named = false
  for (const tag of event.tags) {
    if (tag[0] !== name) continue
    named = true
    if (tag[1] !== undefined && wanted.includes(tag[1])) return true
  }
  return !named && name === "h" && storedChannel !== undefined && wanted.includes(storedChannel)
}

interface Rule {
  readonly expected: string
  readonly accepts: (value: unknown) => boolean
}

const listOf =
  (accepts: (item: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.every(accepts)

const isNatural = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
const isHex64 = (value: unknown): boolean => typeof value === "string" && /^[0-9a-f]{64}$/.test(value)

const NATURAL: Rule = { expected: "a whole number from 0", accepts: isNatural }
const HEX64S: Rule = { expected: "a list of 64 hex digits each", accepts: listOf(isHex64) }
const STRINGS: Rule = { expected: "a list of strings", accepts: listOf((item) => typeof item === "string") }

/** A map, because a client may name a key like `constructor`, which every object has. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["ids", HEX64S],
  ["authors", HEX64S],
  [
    "kinds",
    {
      expected: "a list of whole numbers from 0 to 65535",
      accepts: listOf((item) => isNatural(item) && (item as number) <= 65_535)
    }
  ],
  ["since", NATURAL],
  ["until", NATURAL],
  ["limit", NATURAL],
  ["search", { expected: "a string", accepts: (value) => typeof value === "string" }],
  ["before_id", { expected: "64 hex digits", accepts: isHex64 }]
])
