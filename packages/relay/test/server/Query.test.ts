import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Query from "../../src/server/Query.ts"
import { addMember, CHANNEL, createChannel, message, NOW, OTHER_CHANNEL, person, RuledRelay } from "./support.ts"

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

  it("finds nothing by search, and does not look at other filters then", () => {
    const relay = relayWithChannel()
    relay.must(bob, message("needle"))
    assert.deepStrictEqual(relay.query(ada, { kinds: [9], search: "needle" }, { kinds: [9] }), [])
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
    for (const bad of [{}, [{ ids: ["abc"] }], [{ kinds: [70_000] }], [{ "#p": "x" }], [1]])
      assert.isTrue(Result.isFailure(Query.parseFilters(bad)), JSON.stringify(bad))
  })
})
