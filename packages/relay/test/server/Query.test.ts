import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Query from "../../src/server/Query.ts"
import { tagValues } from "../../src/NostrEvent.ts"
import type { Identity } from "../../src/Identity.ts"
import {
  addMember,
  CHANNEL,
  createChannel,
  type Draft,
  message,
  NOW,
  OTHER_CHANNEL,
  person,
  RuledRelay
} from "./support.ts"

const ada = person("ada")
const bob = person("bob")
const eve = person("eve")

const relayWithChannel = () => {
  const relay = new RuledRelay()
  relay.must(ada, createChannel(CHANNEL))
  relay.must(ada, addMember(bob))
  return relay
}

describe("Query", () => {
  it("shows a private channel to its members only, whichever way one asks", () => {
    const relay = relayWithChannel()
    const secret = relay.must(bob, message("secret"))
    const filters: ReadonlyArray<Query.QueryFilter> = [
      { kinds: [9], "#h": [CHANNEL] },
      { kinds: [9] },
      { ids: [secret.id] },
      { authors: [bob.pubkey], kinds: [9, 7] }
    ]
    for (const filter of filters) {
      assert.deepStrictEqual(relay.query(ada, filter), [secret])
      assert.deepStrictEqual(relay.query(eve, filter), [])
      assert.strictEqual(Query.count(relay.state, { filters: [filter], pubkey: eve.pubkey }), 0)
    }
    assert.deepStrictEqual(relay.query(eve, { kinds: [39_000, 39_001, 39_002, 40_099] }), [])
  })

  it("shows notices of membership to the one they are for, even by id", () => {
    const relay = relayWithChannel()
    const notices = relay.query(bob, { kinds: [44_100], "#p": [bob.pubkey] })
    assert.strictEqual(notices.length, 1)
    const byId = { ids: notices.map(({ id }) => id) }
    assert.deepStrictEqual(relay.query(bob, byId), notices)
    assert.deepStrictEqual(relay.query(eve, byId), [])
  })

  it("concatenates the filters' results without removing what two of them find", () => {
    const relay = relayWithChannel()
    const first = relay.must(bob, message("first"))
    assert.deepStrictEqual(relay.query(ada, { ids: [first.id] }, { kinds: [9], "#h": [CHANNEL] }), [first, first])
  })

  it("looks at one channel only when a filter names several", () => {
    const relay = relayWithChannel()
    relay.must(ada, createChannel(OTHER_CHANNEL))
    const here = relay.must(ada, message("here"))
    relay.must(ada, { kind: 9, content: "there", tags: [["h", OTHER_CHANNEL]] })
    assert.deepStrictEqual(relay.query(ada, { kinds: [9], "#h": [OTHER_CHANNEL, CHANNEL] }), [here])
  })

  it("reads a thread to a depth, without its root", () => {
    const relay = relayWithChannel()
    const root = relay.must(ada, message("root"))
    const reply = relay.must(bob, message("reply", ["e", root.id, "", "reply"]))
    const deep = relay.must(ada, message("deep", ["e", root.id, "", "root"], ["e", reply.id, "", "reply"]))
    const thread = (depth_limit: number) =>
      relay
        .query(bob, { kinds: [9], "#h": [CHANNEL], "#e": [root.id], depth_limit })
        .map(({ id }) => id)
        .toSorted()
    assert.deepStrictEqual(thread(1), [reply.id])
    assert.deepStrictEqual(thread(9), [reply.id, deep.id].toSorted())
    assert.deepStrictEqual(relay.query(eve, { "#e": [root.id], depth_limit: 9 }), [])
  })

  it("finds by all words of a search what the reader may see, each event once, and does not look at other filters then", () => {
    const relay = relayWithChannel()
    const found = relay.must(bob, message("A needle in the Haystack"))
    relay.must(bob, message("a needle in a box"))
    relay.now += 1
    const newer = relay.must(ada, message("haystack: needles"))
    const search: Query.QueryFilter = { kinds: [9], search: "NEEDLE  haystack" }
    assert.deepStrictEqual(relay.query(ada, search, search, { kinds: [9] }), [newer, found])
    assert.deepStrictEqual(relay.query(ada, { ...search, limit: 1 }), [newer])
    assert.deepStrictEqual(relay.query(ada, { ...search, "#h": [OTHER_CHANNEL] }), [])
    assert.deepStrictEqual(relay.query(eve, search), [])
    assert.deepStrictEqual(relay.query(ada, { kinds: [9], search: "" }), [])
  })

  it("finds users by their names, and channels by their exact name, archived ones too", () => {
    const relay = relayWithChannel()
    const profile = relay.must(bob, { kind: 0, content: '{"display_name":"Bob the Builder"}' })
    assert.deepStrictEqual(relay.query(ada, { kinds: [0], search: "bob", limit: 100 }), [profile])
    const archive = (id: string): Draft => ({
      kind: 9002,
      tags: [
        ["h", id],
        ["archived", "true"]
      ]
    })
    relay.must(ada, createChannel(OTHER_CHANNEL, "open"))
    relay.must(ada, archive(CHANNEL))
    const named = (reader: Identity) =>
      relay
        .query(reader, { kinds: [39_000], limit: 1000 })
        .filter(({ tags }) => tags.some(([key, value]) => key === "name" && value === "general"))
        .map((event) => [tagValues(event, "d")[0], tagValues(event, "archived")[0]])
        .toSorted()
    assert.deepStrictEqual(named(bob), [
      [CHANNEL, "true"],
      [OTHER_CHANNEL, undefined]
    ])
    assert.deepStrictEqual(named(eve), [[OTHER_CHANNEL, undefined]])
  })

  it("reads a person's feed: mentions, what waits for them, and what was said, the newest first", () => {
    const relay = relayWithChannel()
    const said = relay.must(bob, message("said"))
    relay.now += 1
    const mention = relay.must(bob, message("for you", ["p", ada.pubkey]))
    relay.now += 1
    const reminder = relay.must(bob, {
      kind: 40_007,
      content: "soon",
      tags: [
        ["h", CHANNEL],
        ["p", ada.pubkey]
      ]
    })
    const feed = (reader: Identity, ...feed_types: ReadonlyArray<string>) =>
      relay.query(reader, { "#p": [reader.pubkey], feed_types, limit: 20 })
    assert.deepStrictEqual(feed(ada, "mentions"), [mention])
    assert.deepStrictEqual(feed(ada, "needs_action"), [reminder])
    assert.deepStrictEqual(feed(ada, "agent_activity"), [mention, said])
    assert.deepStrictEqual(feed(ada, "activity", "mentions", "needs_action"), [reminder, mention, said])
    assert.deepStrictEqual(feed(eve, "activity", "mentions"), [])
    assert.deepStrictEqual(relay.query(ada, { feed_types: ["activity"], limit: 1 }), [mention])
    assert.deepStrictEqual(feed(ada, "constructor", "x"), [])
  })

  it("yields nothing for what nothing can match, and the newest for a small limit", () => {
    const relay = relayWithChannel()
    relay.must(bob, message("old"))
    relay.now += 1
    const last = relay.must(bob, message("new"))
    const empty: ReadonlyArray<Query.QueryFilter> = [
      { kinds: [] },
      { ids: [] },
      { authors: [], kinds: [9] },
      { kinds: [9], limit: 0 },
      { kinds: [9], since: NOW + 2 },
      { kinds: [9], until: 0 },
      { kinds: [9], "#h": [] },
      { kinds: [9], "#x": ["y"] }
    ]
    for (const filter of empty) assert.deepStrictEqual(relay.query(ada, filter), [], JSON.stringify(filter))
    assert.deepStrictEqual(relay.query(ada, { kinds: [9], limit: 1 }), [last])
  })

  it("answers presence with events of its own until it is ninety seconds old", () => {
    const relay = relayWithChannel()
    relay.must(bob, { kind: 20_001, content: "online" }, "ws")
    const ask = () => relay.query(ada, { kinds: [40_902], authors: [bob.pubkey, eve.pubkey] })
    const [answer, ...others] = ask()
    assert.deepStrictEqual(others, [])
    assert.deepInclude(answer, {
      kind: 20_001,
      pubkey: relay.self.pubkey,
      content: "online",
      created_at: NOW,
      tags: [["p", bob.pubkey]]
    })
    relay.now += 90
    assert.strictEqual(ask().length, 1)
    relay.now += 1
    assert.deepStrictEqual(ask(), [])
  })

  it("reads filters strictly where it knows the key, and ignores what it does not know", () => {
    assert.isTrue(Result.isSuccess(Query.parseFilters([{ kinds: [9], feed_types: ["mentions"], "&x": 1 }])))
    assert.deepStrictEqual(
      Query.parseFilters([{ depth_limit: 2, "#e": ["x"] }]),
      Result.succeed([{ depth_limit: 2, "#e": ["x"] }])
    )
    const inherited: unknown = JSON.parse('[{"constructor":1,"__proto__":{"limit":-1},"kinds":[9]}]')
    assert.deepStrictEqual(Query.parseFilters(inherited), Result.succeed([{ kinds: [9] }]))
    const negative = [{ limit: -1 }, { since: -1 }, { until: -5 }, { kinds: [-1] }, { limit: 1.5 }].map((filter) => [
      filter
    ])
    for (const bad of [
      {},
      [{ ids: ["abc"] }],
      [{ kinds: [70_000] }],
      [{ "#p": "x" }],
      [1],
      Array.from({ length: Query.MAX_FILTERS + 1 }, () => ({})),
      ...negative
    ])
      assert.isTrue(Result.isFailure(Query.parseFilters(bad)), JSON.stringify(bad))
  })
})
