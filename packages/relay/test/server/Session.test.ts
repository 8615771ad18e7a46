import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import type { Identity } from "../../src/Identity.ts"
import * as Nip42 from "../../src/Nip42.ts"
import * as OwnerAttestation from "../../src/OwnerAttestation.ts"
import {
  addMember,
  CHALLENGE,
  CHANNEL,
  createChannel,
  message,
  NOW,
  OTHER_CHANNEL,
  person,
  RELAY_URL,
  RuledRelay,
  sign,
  toySchnorr
} from "./support.ts"

const ada = person("ada")
const bob = person("bob")
const eve = person("eve")

const auth = (who: Identity, changed: { relayUrl?: string; challenge?: string; now?: number } = {}) =>
  Nip42.authEvent(toySchnorr, who, { relayUrl: RELAY_URL, challenge: CHALLENGE, now: NOW, ...changed })

const relayWithChannel = () => {
  const relay = new RuledRelay()
  relay.must(ada, createChannel(CHANNEL))
  relay.must(ada, addMember(bob))
  return relay
}

describe("Session", () => {
  it("greets with a challenge and lets nobody do anything before the answer", () => {
    const relay = relayWithChannel()
    const connection = relay.open()
    const event = sign(ada, message("hi"))
    relay.tell(connection, "REQ", "s", { kinds: [9] })
    relay.tell(connection, "COUNT", "c", { kinds: [9] })
    relay.tell(connection, "EVENT", event)
    assert.deepStrictEqual(relay.received(connection), [
      ["AUTH", CHALLENGE],
      ["NOTICE", "auth-required: authenticate before subscribing"],
      ["CLOSED", "s", "auth-required: not authenticated"],
      ["CLOSED", "c", "auth-required: not authenticated"],
      ["OK", event.id, false, "auth-required: not authenticated"]
    ])
    assert.deepStrictEqual(relay.query(ada, { ids: [event.id] }), [])
  })

  it("accepts the answer once, by the relay's URL in any spelling", () => {
    for (const relayUrl of [RELAY_URL, `${RELAY_URL}/`, "ws://localhost:3000", "WS://LocalHost:3000/"]) {
      const relay = new RuledRelay()
      const connection = relay.open()
      const event = auth(ada, { relayUrl })
      relay.tell(connection, "AUTH", event)
      relay.tell(connection, "AUTH", event)
      assert.deepStrictEqual(relay.received(connection).slice(1), [
        ["OK", event.id, true, ""],
        ["OK", event.id, false, "auth-required: already authenticated"]
      ])
    }
  })

  it("answers to every URL it was told it has", () => {
    const relay = new RuledRelay({ urls: [RELAY_URL, "ws://172.17.0.1:3000"] })
    const connection = relay.open()
    const event = auth(ada, { relayUrl: "ws://172.17.0.1:3000" })
    relay.tell(connection, "AUTH", event)
    assert.deepStrictEqual(relay.received(connection).at(-1), ["OK", event.id, true, ""])
  })

  it("fails a connection for good at the first wrong answer", () => {
    const wrong = [
      auth(ada, { challenge: "d".repeat(64) }),
      auth(ada, { relayUrl: "http://127.0.0.1:3000" }),
      auth(ada, { relayUrl: "ws://127.0.0.1:3001" }),
      auth(ada, { now: NOW - 61 }),
      { ...auth(ada), pubkey: eve.pubkey },
      sign(ada, { kind: 9 })
    ]
    for (const event of wrong) {
      const relay = new RuledRelay()
      const connection = relay.open()
      const right = auth(ada)
      relay.tell(connection, "AUTH", event)
      relay.tell(connection, "AUTH", right)
      relay.tell(connection, "REQ", "s", { kinds: [9] })
      assert.deepStrictEqual(relay.received(connection).slice(1), [
        ["OK", event.id, false, "auth-required: verification failed"],
        ["OK", right.id, false, "auth-required: authentication already failed"],
        ["NOTICE", "auth-required: authenticate before subscribing"],
        ["CLOSED", "s", "auth-required: not authenticated"]
      ])
    }
  })

  it("closed, admits its owner and the keys that its owner attested", () => {
    const relay = new RuledRelay({ closedTo: ada.pubkey })
    const attested = (by: Identity): Identity => ({
      ...bob,
      authTag: Redacted.make(OwnerAttestation.attest(toySchnorr, by.secretKey, bob.pubkey))
    })
    const enter = (who: Identity) => {
      const connection = relay.open()
      relay.tell(connection, "AUTH", auth(who))
      return relay.received(connection).at(-1)?.slice(2)
    }
    assert.deepStrictEqual(enter(ada), [true, ""])
    assert.deepStrictEqual(enter(attested(ada)), [true, ""])
    assert.deepStrictEqual(enter(bob), [false, "restricted: not a relay member"])
    assert.deepStrictEqual(enter(attested(eve)), [false, "restricted: not a relay member"])
  })

  it("replays history newest first, then EOSE, then what is new, each event once", () => {
    const relay = relayWithChannel()
    const old = relay.must(ada, message("old"))
    relay.now += 1
    const newer = relay.must(bob, message("newer"))
    const reader = relay.connect(ada)
    relay.tell(reader, "REQ", "s", { kinds: [9], "#h": [CHANNEL] }, { ids: [old.id], "#h": [CHANNEL] })
    const live = relay.must(bob, message("live"))
    assert.deepStrictEqual(relay.received(reader), [
      ["EVENT", "s", newer],
      ["EVENT", "s", old],
      ["EOSE", "s"],
      ["EVENT", "s", live]
    ])
  })

  it("gives a publisher the event before its OK", () => {
    const relay = relayWithChannel()
    const both = relay.connect(ada)
    relay.tell(both, "REQ", "s", { kinds: [9], "#h": [CHANNEL] })
    relay.received(both)
    const event = sign(ada, message("hi"))
    relay.tell(both, "EVENT", event)
    assert.deepStrictEqual(relay.received(both), [
      ["EVENT", "s", event],
      ["OK", event.id, true, ""]
    ])
  })

  it("wakes an agent by mention and by notice of membership, as buzz-acp subscribes", () => {
    const relay = new RuledRelay()
    relay.must(ada, createChannel(CHANNEL))
    const agent = relay.connect(bob)
    relay.tell(agent, "REQ", "membership-notif", { kinds: [44_100, 44_101], "#p": [bob.pubkey], since: NOW - 5 })
    relay.must(ada, addMember(bob, "bot"))
    const notice = relay.received(agent).at(-1)
    assert.deepStrictEqual(notice?.slice(0, 2), ["EVENT", "membership-notif"])
    const early = relay.must(ada, message("@bob early", ["p", bob.pubkey]))
    const filter = { "#h": [CHANNEL], "#p": [bob.pubkey], kinds: [9, 46_010, 40_007], since: NOW - 5 }
    relay.tell(agent, "REQ", `ch-${CHANNEL}`, filter)
    relay.must(ada, message("not for bob"))
    const late = relay.must(ada, message("@bob late", ["p", bob.pubkey]))
    assert.deepStrictEqual(relay.received(agent), [
      ["EVENT", `ch-${CHANNEL}`, early],
      ["EOSE", `ch-${CHANNEL}`],
      ["EVENT", `ch-${CHANNEL}`, late]
    ])
  })

  it("keeps the scopes apart: no live channel event on a global subscription, and the other way round", () => {
    const relay = relayWithChannel()
    relay.must(ada, createChannel(OTHER_CHANNEL))
    const reader = relay.connect(ada)
    relay.tell(reader, "REQ", "both", { kinds: [9], "#h": [CHANNEL, OTHER_CHANNEL] })
    relay.tell(reader, "REQ", "global", { kinds: [9, 0] })
    relay.tell(reader, "REQ", "two", { kinds: [9], "#h": [CHANNEL] }, { kinds: [0] })
    relay.tell(reader, "REQ", "channel", { kinds: [9, 0, 44_100], "#h": [CHANNEL] })
    relay.received(reader)
    const inChannel = relay.must(ada, message("hi"))
    const profile = relay.must(ada, { kind: 0, content: "{}" })
    relay.must(ada, addMember(eve))
    assert.deepStrictEqual(relay.received(reader), [
      ["EVENT", "channel", inChannel],
      ["EVENT", "global", profile],
      ["EVENT", "two", profile]
    ])
  })

  it("ends a removed member's subscription after the notice, and sends nothing of the channel any more", () => {
    const relay = relayWithChannel()
    const reader = relay.connect(bob)
    relay.tell(reader, "REQ", "n", { kinds: [44_101], "#p": [bob.pubkey] })
    relay.tell(reader, "REQ", "c", { kinds: [9, 9001, 39_002], "#h": [CHANNEL] })
    relay.received(reader)
    const remove = { kind: 9001, tags: [["h", CHANNEL] as const, ["p", bob.pubkey] as const] }
    relay.must(ada, remove)
    relay.must(ada, message("behind his back"))
    const frames = relay.received(reader)
    assert.deepStrictEqual(
      frames.map((frame) => frame.slice(0, 2)),
      [
        ["EVENT", "n"],
        ["CLOSED", "c"]
      ]
    )
    assert.deepStrictEqual(frames[1], ["CLOSED", "c", "restricted: channel access revoked"])
    relay.tell(reader, "REQ", "c", { kinds: [9], "#h": [CHANNEL] })
    assert.deepStrictEqual(relay.received(reader), [["CLOSED", "c", "restricted: not a channel member"]])
  })

  it("ends strangers' subscriptions when a channel turns private", () => {
    const relay = new RuledRelay()
    relay.must(ada, createChannel(CHANNEL, "open"))
    const [stranger, owner] = [relay.connect(eve), relay.connect(ada)]
    for (const reader of [stranger, owner]) relay.tell(reader, "REQ", "c", { kinds: [9], "#h": [CHANNEL] })
    relay.received(stranger)
    relay.received(owner)
    relay.must(ada, {
      kind: 9002,
      tags: [
        ["h", CHANNEL],
        ["visibility", "private"]
      ]
    })
    assert.deepStrictEqual(relay.received(stranger), [["CLOSED", "c", "restricted: channel access revoked"]])
    const event = relay.must(ada, message("now secret"))
    assert.deepStrictEqual(relay.received(stranger), [])
    assert.deepStrictEqual(relay.received(owner), [["EVENT", "c", event]])
  })

  it("refuses subscriptions with the relay's texts", () => {
    const relay = relayWithChannel()
    relay.must(ada, createChannel(OTHER_CHANNEL))
    const reader = relay.connect(bob)
    const cases: ReadonlyArray<readonly [ReadonlyArray<unknown>, string]> = [
      [[{ kinds: [9], "#h": [OTHER_CHANNEL] }], "restricted: not a channel member"],
      [[{ kinds: [9], "#h": [CHANNEL, OTHER_CHANNEL] }], "restricted: not a channel member"],
      [[{}], "restricted: p-gated events require #p matching your pubkey"],
      [[{ kinds: [44_100], "#p": [ada.pubkey] }], "restricted: p-gated events require #p matching your pubkey"],
      [[{ kinds: [30_174] }], "restricted: agent-engram reads require authors=[self] or #p=[self]"],
      [[{ kinds: [9], search: "x" }, { kinds: [9] }], "error: mixed search and non-search filters not supported"]
    ]
    for (const [filters, text] of cases) {
      relay.tell(reader, "REQ", "s", ...filters)
      assert.deepStrictEqual(relay.received(reader), [["CLOSED", "s", text]])
    }
    relay.tell(reader, "REQ", "s", { "#h": [CHANNEL], limit: 0 })
    assert.deepStrictEqual(relay.received(reader), [["EOSE", "s"]])
  })

  it("notices what it cannot read, and goes on", () => {
    const relay = relayWithChannel()
    const reader = relay.connect(ada)
    for (const text of [
      "nonsense",
      "{}",
      '["PLEASE"]',
      '["EVENT",{"id":"1"}]',
      '["REQ","",{}]',
      `["REQ","${"x".repeat(257)}",{}]`,
      '["REQ","s",{"ids":["abc"]}]',
      JSON.stringify(["REQ", "s", ...Array.from({ length: 11 }, () => ({ kinds: [9] }))])
    ]) {
      relay.tellText(reader, text)
      const [[verb, detail] = [], ...others] = relay.received(reader)
      assert.strictEqual(verb, "NOTICE")
      assert.match(String(detail), /^invalid message: Invalid message format: /)
      assert.deepStrictEqual(others, [])
    }
    relay.tell(reader, "COUNT", "c", { kinds: [9] })
    assert.deepStrictEqual(relay.received(reader), [["COUNT", "c", { count: 0 }]])
  })

  it("holds a limited number of subscriptions; one that is replaced does not count twice", () => {
    const relay = relayWithChannel()
    const reader = relay.connect(ada)
    for (let i = 0; i < 1024; i++) relay.tell(reader, "REQ", `s${i}`, { kinds: [9], limit: 0 })
    relay.received(reader)
    relay.tell(reader, "REQ", "one-more", { kinds: [9] })
    relay.tell(reader, "REQ", "s7", { kinds: [7] })
    relay.tell(reader, "CLOSE", "s7")
    relay.tell(reader, "REQ", "one-more", { kinds: [9] })
    assert.deepStrictEqual(relay.received(reader), [
      ["CLOSED", "one-more", "error: too many subscriptions"],
      ["EOSE", "s7"],
      ["CLOSED", "s7", ""],
      ["EOSE", "one-more"]
    ])
  })

  it("forgets a presence when the last connection of its key ends", () => {
    const relay = relayWithChannel()
    const [first, second] = [relay.connect(bob), relay.connect(bob)]
    relay.tell(first, "EVENT", sign(bob, { kind: 20_001, content: "online" }))
    const ask = () => relay.query(ada, { kinds: [20_001], authors: [bob.pubkey] }).length
    relay.close(first)
    assert.strictEqual(ask(), 1)
    relay.close(second)
    assert.strictEqual(ask(), 0)
  })
})
