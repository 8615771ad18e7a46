import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { matchFilter } from "nostr-tools/filter"
import * as Filter from "../src/Filter.ts"
import type { NostrEvent } from "../src/NostrEvent.ts"

const hex = (digit: string) => digit.repeat(64)
const one = Schema.Literals
const few = <A>(values: Schema.Codec<A>) => Schema.optionalKey(Schema.Array(values))

// Few values, so that fields meet often.
const Ids = one([hex("a"), hex("b"), hex("c")])
const Authors = one([hex("1"), hex("2")])
const Kinds = one([7, 9, 40_002])
const Seconds = one([10, 11, 12])
const Values = one(["x", "y", "z"])
const Tags = Schema.Array(
  Schema.Union([Schema.Tuple([one(["h", "p", "e", "-"])]), Schema.Tuple([one(["h", "p", "e", "long"]), Values])])
)
const Event = Schema.Struct({
  id: Ids,
  pubkey: Authors,
  kind: Kinds,
  created_at: Seconds,
  tags: Tags,
  content: Schema.Literal(""),
  sig: Schema.Literal("0".repeat(128))
})
const Wanted = Schema.Struct({
  ids: few(Ids),
  authors: few(Authors),
  kinds: few(Kinds),
  since: Schema.optionalKey(Seconds),
  until: Schema.optionalKey(Seconds),
  "#h": few(Values),
  "#p": few(Values)
})

/** Every rule as one sentence, slow and obvious. */
const obviously = (filter: typeof Wanted.Type, event: NostrEvent): boolean => {
  const valuesOf = (name: string) => event.tags.filter((tag) => tag[0] === name).map((tag) => tag[1])
  const rules: ReadonlyArray<boolean> = [
    filter.ids === undefined || filter.ids.some((id) => id === event.id),
    filter.authors === undefined || filter.authors.some((author) => author === event.pubkey),
    filter.kinds === undefined || filter.kinds.some((kind) => kind === event.kind),
    filter.since === undefined || filter.since <= event.created_at,
    filter.until === undefined || event.created_at <= filter.until,
    filter["#h"] === undefined || filter["#h"].some((value) => valuesOf("h").includes(value)),
    filter["#p"] === undefined || filter["#p"].some((value) => valuesOf("p").includes(value))
  ]
  return rules.every(Boolean)
}

const event: NostrEvent = {
  id: hex("a"),
  pubkey: hex("1"),
  created_at: 11,
  kind: 9,
  tags: [
    ["h", "channel"],
    ["p", hex("2")]
  ],
  content: "",
  sig: "0".repeat(128)
}

describe("matches", () => {
  it.effect.prop(
    "agrees with the rules written out",
    [Wanted, Event],
    ([filter, event]) => Effect.sync(() => assert.strictEqual(Filter.matches(filter, event), obviously(filter, event))),
    { arbitrary: { runs: 500 } }
  )

  it.effect.prop(
    "agrees with nostr-tools where no list is empty",
    [Wanted, Event],
    ([filter, event]) =>
      Effect.sync(() => {
        // nostr-tools takes an empty list of tag values for no condition and reads a `limit` nowhere.
        if (Object.values(filter).some((field) => Array.isArray(field) && field.length === 0)) return
        const theirs = matchFilter(JSON.parse(JSON.stringify(filter)), JSON.parse(JSON.stringify(event)))
        assert.strictEqual(Filter.matches(filter, event), theirs)
      }),
    { arbitrary: { runs: 300 } }
  )

  it("matches everything with an empty filter and nothing with an empty list", () => {
    assert.isTrue(Filter.matches({}, event))
    for (const filter of [{ kinds: [] }, { ids: [] }, { authors: [] }, { "#h": [] }]) {
      assert.isFalse(Filter.matches(filter, event), JSON.stringify(filter))
    }
  })

  it("asks for the stored channel only when the event names none", () => {
    const reaction: NostrEvent = { ...event, kind: 7, tags: [["e", hex("b")]] }
    const filter = { "#h": ["channel"] }
    assert.isTrue(Filter.matches(filter, reaction, "channel"))
    assert.isFalse(Filter.matches(filter, reaction, "other"))
    assert.isFalse(Filter.matches(filter, reaction))
    assert.isFalse(Filter.matches({ "#h": ["other"] }, event, "other"))
  })

  it("pages within a second by id", () => {
    const page = { until: 11, before_id: hex("a") }
    assert.isFalse(Filter.matches(page, event))
    assert.isTrue(Filter.matches(page, { ...event, id: hex("b") }))
    assert.isTrue(Filter.matches(page, { ...event, created_at: 10 }))
    assert.isFalse(Filter.matches(page, { ...event, created_at: 12, id: hex("b") }))
  })

  it("matches any of several filters", () => {
    assert.isTrue(Filter.matchesAny([{ kinds: [7] }, { kinds: [9] }], event))
    assert.isFalse(Filter.matchesAny([{ kinds: [7] }], event))
    assert.isFalse(Filter.matchesAny([], event))
  })
})

describe("parse", () => {
  it("keeps what it knows and drops what it does not", () => {
    const filter = {
      ids: [hex("a")],
      authors: [hex("1")],
      kinds: [0, 65_535],
      since: 0,
      until: 1,
      limit: 5,
      search: "text",
      before_id: hex("b"),
      "#h": ["channel"],
      "#E": ["x"]
    }
    const extra = { depth_limit: 3, "#long": ["x"], "#": ["x"], unknown: true }
    assert.deepStrictEqual(Filter.parse({ ...filter, ...extra }), Result.succeed(filter))
  })

  it("refuses fields of the wrong shape, naming them", () => {
    const cases: ReadonlyArray<readonly [unknown, RegExp]> = [
      [null, /object/],
      [[], /object/],
      ["kinds", /object/],
      [{ ids: ["abc"] }, /^ids/],
      [{ ids: hex("a") }, /^ids/],
      [{ authors: [hex("A")] }, /^authors/],
      [{ kinds: [65_536] }, /^kinds/],
      [{ kinds: [1.5] }, /^kinds/],
      [{ kinds: ["9"] }, /^kinds/],
      [{ since: -1 }, /^since/],
      [{ until: "now" }, /^until/],
      [{ limit: 0.5 }, /^limit/],
      [{ "#h": "channel" }, /^#h/],
      [{ "#p": [1] }, /^#p/],
      [{ before_id: "x" }, /^before_id/]
    ]
    for (const [value, reason] of cases) {
      const result = Filter.parse(value)
      assert.match(Result.isFailure(result) ? result.failure : "accepted", reason)
    }
  })
})

const at = (created_at: number, id: string): NostrEvent => ({ ...event, created_at, id: hex(id) })
const initials = (events: ReadonlyArray<NostrEvent>) => events.map(({ id }) => id.slice(0, 1)).join("")

describe("order", () => {
  const events = [at(11, "b"), at(10, "c"), at(11, "a"), at(12, "d")]

  it("puts the newest first as relays do, and the oldest first as people read", () => {
    assert.strictEqual(initials(events.toSorted(Filter.newestFirst)), "dabc")
    assert.strictEqual(initials(events.toSorted(Filter.oldestFirst)), "cabd")
  })
})
