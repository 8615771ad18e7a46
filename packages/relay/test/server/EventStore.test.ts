import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { type Filter, matches } from "../../src/Filter.ts"
import * as EventStore from "../../src/server/EventStore.ts"
import { CHANNEL, OTHER_CHANNEL, person, sign } from "./support.ts"

const authors = [person("ada"), person("bob")]

/** A few of everything, so that ids, seconds and addresses collide often. */
const Row = Schema.Struct({
  author: Schema.Literals([0, 1]),
  kind: Schema.Literals([0, 7, 9, 10_100, 30_078, 39_000]),
  created_at: Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 100, maximum: 104 }))),
  d: Schema.Literals(["x", "y"]),
  content: Schema.Literals(["a", "b", "c"]),
  channel: Schema.Literals([CHANNEL, OTHER_CHANNEL, "none"])
})
type Row = typeof Row.Type

const Rows = Schema.Array(Row).pipe(Schema.check(Schema.isMaxLength(40)))

const TestFilter = Schema.Struct({
  kinds: Schema.optionalKey(Schema.Array(Schema.Literals([0, 7, 9, 39_000]))),
  since: Schema.optionalKey(Schema.Literals([101, 102])),
  until: Schema.optionalKey(Schema.Literals([102, 103])),
  limit: Schema.optionalKey(Schema.Literals([0, 1, 3, 100])),
  "#h": Schema.optionalKey(Schema.Array(Schema.Literals([CHANNEL, OTHER_CHANNEL])))
})

const stored = (row: Row): EventStore.StoredEvent => ({
  event: sign(authors[row.author] ?? person("ada"), {
    kind: row.kind,
    created_at: row.created_at,
    content: row.content,
    tags: [["d", row.d]]
  }),
  channelId: row.channel === "none" ? undefined : row.channel,
  thread: undefined
})

const fill = (rows: ReadonlyArray<EventStore.StoredEvent>): EventStore.EventStore =>
  rows.reduce((store, row) => EventStore.insert(store, row) ?? store, EventStore.empty)

const everything = (store: EventStore.EventStore) => EventStore.query(store, {}, () => true)

const ids = (rows: ReadonlyArray<EventStore.StoredEvent>) => rows.map(({ event }) => event.id)

/** The relay's order, written down once more. */
const inOrder = (rows: ReadonlyArray<EventStore.StoredEvent>) =>
  rows.toSorted((a, b) => b.event.created_at - a.event.created_at || (a.event.id < b.event.id ? -1 : 1))

describe("EventStore", () => {
  it.prop(
    "answers like a filter over a sorted list",
    [Rows, TestFilter],
    ([rows, filter]) => {
      const store = fill(rows.map(stored))
      const kept = inOrder([...new Map(everything(store).map((row) => [row.event.id, row])).values()])
      const narrowed = filter as Filter
      const expected = kept
        .filter(({ channelId, event }) => matches({ ...narrowed }, event, channelId))
        .slice(0, filter.limit ?? EventStore.MAX_ROWS)
      assert.deepStrictEqual(ids(EventStore.query(store, narrowed, () => true)), ids(expected))
      assert.strictEqual(
        EventStore.count(store, narrowed, () => true),
        expected.length
      )
    },
    { arbitrary: { runs: 200 } }
  )

  it.prop(
    "keeps of each address the newest, in the same second the lowest id, whatever the order of arrival",
    [Rows, Schema.Int],
    ([rows, seed]) => {
      // Two equal rows are one event; which channel it arrived for first is not the matter here.
      const events = [...new Map(rows.map((row) => [stored(row).event.id, stored(row)])).values()]
      const shuffled = events.toSorted((a, b) => hash(a.event.id, seed) - hash(b.event.id, seed))
      const best = new Map<string, EventStore.StoredEvent>()
      for (const row of inOrder(events)) {
        const key = EventStore.addressOf(row) ?? row.event.id
        if (!best.has(key)) best.set(key, row)
      }
      assert.deepStrictEqual(ids(everything(fill(events))), ids(inOrder([...best.values()])))
      assert.deepStrictEqual(ids(everything(fill(shuffled))), ids(inOrder([...best.values()])))
    },
    { arbitrary: { runs: 300 } }
  )

  it.prop(
    "keeps order and completeness beyond one run of its index",
    [Schema.Int],
    ([seed]) => {
      const events = Array.from({ length: 700 }, (_, i) =>
        stored({ author: 0, kind: 9, created_at: 100 + (i % 7), d: "x", content: "a", channel: CHANNEL })
      ).map((row, i) => ({ ...row, event: { ...row.event, id: i.toString(16).padStart(64, "0") } }))
      const shuffled = events.toSorted((a, b) => hash(a.event.id, seed) - hash(b.event.id, seed))
      const removed = shuffled.slice(0, 300)
      const full = fill(shuffled)
      assert.deepStrictEqual(ids(everything(full)), ids(inOrder(events)))
      const rest = removed.reduce((store, row) => EventStore.remove(store, row.event.id), full)
      assert.deepStrictEqual(ids(everything(rest)), ids(inOrder(shuffled.slice(300))))
      assert.deepStrictEqual(
        ids(EventStore.query(rest, { "#h": [CHANNEL], kinds: [9] }, () => true)),
        ids(inOrder(shuffled.slice(300)))
      )
    },
    { arbitrary: { runs: 5 } }
  )

  it("does not take back what was deleted", () => {
    const row = stored({ author: 0, kind: 9, created_at: 100, d: "x", content: "a", channel: CHANNEL })
    const store = EventStore.remove(fill([row]), row.event.id)
    assert.strictEqual(EventStore.get(store, row.event.id), undefined)
    assert.strictEqual(EventStore.insert(store, row), undefined)
  })

  it("yields at most a thousand rows per filter, but counts them all", () => {
    const author = person("ada")
    const store = fill(
      Array.from({ length: 1005 }, (_, i) => ({
        event: sign(author, { kind: 9, content: String(i) }),
        channelId: CHANNEL,
        thread: undefined
      }))
    )
    assert.strictEqual(EventStore.query(store, { kinds: [9], limit: 5000 }, () => true).length, 1000)
    assert.strictEqual(
      EventStore.count(store, { kinds: [9] }, () => true),
      1005
    )
  })

  it.prop(
    "looks long lists up as it searches short ones",
    [Rows, Schema.Literals(["ids", "authors", "#d", "#h", "kinds"])],
    ([rows, key]) => {
      const store = fill(rows.map(stored))
      const some = everything(store).filter((_, i) => i % 2 === 0)
      const [first] = some
      const wanted: Readonly<Record<typeof key, ReadonlyArray<string | number>>> = {
        ids: some.map(({ event }) => event.id),
        authors: first === undefined ? [] : [first.event.pubkey],
        "#d": ["x"],
        "#h": [CHANNEL],
        kinds: [9, 0]
      }
      const long = [
        ...wanted[key],
        ...Array.from({ length: 20 }, (_, i) => (key === "kinds" ? 20_000 + i : `other ${i}`))
      ]
      const search = (list: ReadonlyArray<string | number>) =>
        ids(EventStore.query(store, { [key]: list } as Filter, () => true))
      assert.deepStrictEqual(search(long), search(wanted[key]))
    },
    { arbitrary: { runs: 100 } }
  )

  it("pages by second and id without a gap or a repetition", () => {
    const author = person("ada")
    const store = fill(
      Array.from({ length: 50 }, (_, i) => ({
        event: sign(author, { kind: 9, content: String(i), created_at: 100 + (i % 3) }),
        channelId: CHANNEL,
        thread: undefined
      }))
    )
    const seen: Array<string> = []
    let page = EventStore.query(store, { kinds: [9], limit: 7 }, () => true)
    while (page.length > 0) {
      seen.push(...ids(page))
      const last = page.at(-1)?.event
      if (last === undefined) break
      const next: Filter = { kinds: [9], limit: 7, until: last.created_at, before_id: last.id }
      page = EventStore.query(store, next, () => true)
    }
    assert.deepStrictEqual(seen, ids(everything(store)))
  })
})

/** Any fixed shuffling of ids by a number. */
const hash = (id: string, seed: number): number =>
  [...id].reduce((sum, digit) => (sum * 31 + digit.charCodeAt(0) + seed) % 1_000_003, 7)
