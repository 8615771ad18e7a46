import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import * as Identity from "../../src/Identity.ts"
import { tagValues } from "../../src/NostrEvent.ts"
import { CHANNEL, createChannel, type Draft, NOW, person, RuledRelay, sign, toySchnorr } from "./support.ts"

const [ada, bob, eve, dan] = [person("ada"), person("bob"), person("eve"), person("dan")]

const request = (kind: number, who?: Identity.Identity, role?: string): Draft => ({
  kind,
  tags: [
    ...(who === undefined ? [["-"] as const] : [["p", who.pubkey] as const]),
    ...(role === undefined ? [] : [["role", role] as const])
  ]
})
const [add, remove, change, leave] = [9030, 9031, 9032, 28_936]

const closed = () => new RuledRelay({ closedTo: ada.pubkey })

/** The members as the relay's newest list has them. */
const listed = (relay: RuledRelay) =>
  relay
    .query(ada, { kinds: [13_534] })
    .map(({ tags }) => tags.filter(([name]) => name === "member").map((t) => t.slice(1)))

describe("RelayMembers", () => {
  it("says who its members are: at first the owner", () => {
    const relay = closed()
    assert.deepStrictEqual(listed(relay), [[[ada.pubkey, "owner"]]])
    const [list] = relay.query(ada, { kinds: [13_534] })
    assert.deepStrictEqual(list?.tags[0], ["-"])
    assert.strictEqual(list?.pubkey, relay.self.pubkey)
    assert.deepStrictEqual(new RuledRelay().query(ada, { kinds: [13_534, 8000] }), [])
  })

  it("lets the owner and administrators add and remove, tells everybody, and keeps no request", () => {
    const relay = closed()
    const reader = relay.connect(ada)
    relay.tell(reader, "REQ", "s", { kinds: [13_534, 8000, 8001, 9030, 9031], since: NOW + 1, limit: 0 })
    relay.received(reader)
    relay.now += 1
    relay.must(ada, request(add, bob, "admin"))
    relay.must(bob, request(add, eve))
    relay.must(bob, request(remove, eve))
    const said = relay
      .received(reader)
      .map((frame) => frame[2] as { kind: number; tags: ReadonlyArray<[string, string]> })
    assert.deepStrictEqual(
      said.map(({ kind, tags }) => [kind, tagValues({ tags }, "p")[0]]),
      [
        [13_534, undefined],
        [8000, bob.pubkey],
        [13_534, undefined],
        [8000, eve.pubkey],
        [13_534, undefined],
        [8001, eve.pubkey]
      ]
    )
    assert.deepStrictEqual(listed(relay), [
      [
        [ada.pubkey, "owner"],
        [bob.pubkey, "admin"]
      ]
    ])
    assert.deepStrictEqual(relay.query(ada, { kinds: [9030, 9031] }), [])
  })

  it.each([
    ["a member adds", bob, request(add, eve), "invalid: actor not authorized"],
    ["a stranger adds", dan, request(add, dan), "invalid: actor not authorized"],
    ["an administrator makes another", eve, request(add, dan, "admin"), "invalid: actor not authorized"],
    ["somebody makes an owner", ada, request(add, dan, "owner"), "invalid: invalid role: owner"],
    ["nobody is named", ada, request(add), "invalid: missing p tag"],
    ["an administrator removes the owner", eve, request(remove, ada), "invalid: cannot remove the owner"],
    ["a member removes", bob, request(remove, eve), "invalid: actor not authorized"],
    ["an administrator changes a role", eve, request(change, bob, "admin"), "invalid: actor not authorized"],
    ["a role of a stranger is changed", ada, request(change, dan, "admin"), "invalid: not a relay member"],
    ["the owner's role is changed", ada, request(change, ada, "member"), "invalid: cannot change the owner"],
    ["the owner leaves", ada, request(leave), "invalid: cannot remove the owner"],
    ["somebody leaves without a mark", bob, { kind: leave }, "invalid: leave request must include a - tag"],
    [
      "a request is old",
      ada,
      { ...request(add, dan), created_at: NOW - 121 },
      "invalid: event timestamp too far from server time"
    ]
  ])("refuses when %s", (_, actor, draft, text) => {
    const relay = closed()
    relay.must(ada, request(add, bob))
    relay.must(ada, request(add, eve, "admin"))
    const before = listed(relay)
    assert.strictEqual(relay.say(actor, draft), text)
    assert.deepStrictEqual(listed(relay), before)
  })

  it("lets the owner change roles and members leave", () => {
    const relay = closed()
    relay.must(ada, request(add, bob))
    relay.must(ada, request(change, bob, "admin"))
    assert.deepStrictEqual(listed(relay)[0]?.[1], [bob.pubkey, "admin"])
    relay.must(bob, request(leave), "ws")
    assert.deepStrictEqual(listed(relay), [[[ada.pubkey, "owner"]]])
  })

  it("ends the sessions of whoever is removed, and of the agents that key attested", () => {
    const relay = closed()
    relay.must(ada, request(add, bob))
    relay.must(ada, createChannel(CHANNEL, "open"))
    const agent = Identity.attested(toySchnorr, eve, bob)
    const [member, attested, owner] = [relay.connect(bob), relay.connect(agent), relay.connect(ada)]
    for (const id of [member, attested, owner]) relay.tell(id, "REQ", "s", { kinds: [9], "#h": [CHANNEL] })
    for (const id of [member, attested, owner]) relay.received(id)
    relay.must(ada, request(remove, bob))
    for (const id of [member, attested]) {
      assert.deepStrictEqual(relay.received(id), [["CLOSED", "s", "restricted: not a relay member"]])
      relay.tell(id, "REQ", "t", { kinds: [9], "#h": [CHANNEL] })
      assert.deepStrictEqual(relay.received(id).at(-1), ["CLOSED", "t", "auth-required: not authenticated"])
    }
    relay.must(ada, { kind: 9, tags: [["h", CHANNEL]], content: "among us" })
    assert.deepStrictEqual(relay.received(member), [])
    assert.strictEqual(relay.received(owner).length, 1)
  })

  it("admits no attested key where that is switched off", () => {
    const relay = closed()
    const rules = { ...relay.rules, closed: { owner: ada.pubkey, admitsAttested: false } }
    Object.assign(relay, { rules })
    const agent = Identity.attested(toySchnorr, eve, ada)
    assert.isDefined(agent.authTag && Redacted.value(agent.authTag))
    const id = relay.open()
    relay.received(id)
    relay.authenticate(id, agent)
    assert.deepStrictEqual(relay.received(id).at(-1)?.slice(2), [false, "restricted: not a relay member"])
  })

  it("is no business of an open relay", () => {
    assert.strictEqual(new RuledRelay().say(ada, request(add, bob)), "invalid: actor not authorized")
    assert.strictEqual(sign(ada, request(leave)).kind, 28_936)
  })
})
