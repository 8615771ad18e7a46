import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import type { Identity } from "../../src/Identity.ts"
import * as OwnerAttestation from "../../src/OwnerAttestation.ts"
import { tagValues } from "../../src/NostrEvent.ts"
import {
  addMember,
  CHANNEL,
  createChannel,
  type Draft,
  message,
  NOW,
  person,
  RuledRelay,
  toySchnorr
} from "./support.ts"

const ada = person("ada")
const bob = person("bob")
const cid = person("cid")
const eve = person("eve")

const relayWith = (visibility: "open" | "private", ...members: ReadonlyArray<Identity>) => {
  const relay = new RuledRelay()
  relay.must(ada, createChannel(CHANNEL, visibility))
  for (const member of members) relay.must(ada, addMember(member))
  return relay
}

const inChannel = (kind: number, ...tags: ReadonlyArray<[string, ...ReadonlyArray<string>]>): Draft => ({
  kind,
  tags: [["h", CHANNEL], ...tags]
})

const roles = (relay: RuledRelay): Readonly<Record<string, string>> => {
  const [state] = relay.query(ada, { kinds: [39_002], "#d": [CHANNEL], limit: 1 })
  const names = new Map([ada, bob, cid, eve].map((who, i) => [who.pubkey, "ada bob cid eve".split(" ")[i] ?? ""]))
  return Object.fromEntries(
    (state?.tags ?? []).flatMap((tag) => (tag[0] === "p" ? [[names.get(tag[1] ?? "") ?? "?", tag[3] ?? ""]] : []))
  )
}

const attestedBy = (agent: Identity, owner: Identity): Identity => ({
  ...agent,
  authTag: Redacted.make(OwnerAttestation.attest(toySchnorr, owner.secretKey, agent.pubkey))
})

describe("ChannelRules", () => {
  it("publishes the state of a new channel, signed by the relay, and tells its creator", () => {
    const relay = relayWith("private")
    const [metadata] = relay.query(ada, { kinds: [39_000], "#d": [CHANNEL] })
    assert.strictEqual(metadata?.pubkey, relay.self.pubkey)
    assert.deepStrictEqual(metadata?.tags, [
      ["d", CHANNEL],
      ["name", "general"],
      ["private"],
      ["closed"],
      ["t", "stream"]
    ])
    const [admins] = relay.query(ada, { kinds: [39_001], "#d": [CHANNEL] })
    assert.deepStrictEqual(admins?.tags, [
      ["d", CHANNEL],
      ["p", ada.pubkey, "owner"]
    ])
    const [members] = relay.query(ada, { kinds: [39_002], "#p": [ada.pubkey] })
    assert.deepStrictEqual(members?.tags, [
      ["d", CHANNEL],
      ["p", ada.pubkey, "", "owner"]
    ])
    const [notice] = relay.query(ada, { kinds: [44_100], "#p": [ada.pubkey] })
    assert.deepStrictEqual(notice?.tags, [
      ["p", ada.pubkey],
      ["h", CHANNEL]
    ])
    assert.deepStrictEqual(JSON.parse(notice?.content ?? ""), {
      actor: ada.pubkey,
      channel_id: CHANNEL,
      type: "member_added"
    })
  })

  it("re-issues the state with a later time at every change, however fast they come", () => {
    const relay = relayWith("private", bob, cid, eve)
    const states = relay.query(ada, { kinds: [39_000, 39_001, 39_002], "#h": [CHANNEL] })
    assert.deepStrictEqual(
      states.map(({ created_at, kind }) => [kind, created_at]).toSorted(),
      [39_000, 39_001, 39_002].map((kind) => [kind, NOW + 3])
    )
    assert.deepStrictEqual(roles(relay), { ada: "owner", bob: "member", cid: "member", eve: "member" })
  })

  it("lets any member add to a private channel, but only owners and admins hand out elevated roles", () => {
    const relay = relayWith("private", bob)
    assert.strictEqual(relay.say(eve, addMember(eve)), "restricted: not a channel member")
    assert.strictEqual(relay.say(bob, addMember(cid, "boss")), "invalid: invalid role: boss")
    assert.strictEqual(relay.say(bob, addMember(cid, "admin")), "invalid: only owners/admins may grant elevated roles")
    assert.strictEqual(relay.say(bob, inChannel(9000)), "invalid: missing p tag")
    assert.strictEqual(relay.say(bob, addMember(cid, "bot")), "")
    assert.strictEqual(relay.say(ada, addMember(eve, "admin")), "")
    assert.deepStrictEqual(roles(relay), { ada: "owner", bob: "member", cid: "bot", eve: "admin" })
  })

  it("does not let a member change a role by adding somebody again", () => {
    const relay = relayWith("private", bob, cid)
    assert.strictEqual(relay.say(bob, addMember(cid, "guest")), "")
    assert.strictEqual(relay.say(bob, addMember(ada, "guest")), "")
    assert.strictEqual(relay.say(ada, addMember(ada, "guest")), "")
    assert.strictEqual(relay.say(ada, addMember(bob, "admin")), "")
    assert.deepStrictEqual(roles(relay), { ada: "owner", bob: "admin", cid: "member" })
  })

  it("accepts an elevated role from anybody in an open channel, and does nothing", () => {
    const relay = relayWith("open")
    assert.strictEqual(relay.say(eve, addMember(eve, "owner")), "")
    assert.deepStrictEqual(roles(relay), { ada: "owner" })
    assert.strictEqual(relay.say(eve, addMember(eve)), "")
    assert.deepStrictEqual(roles(relay), { ada: "owner", eve: "member" })
  })

  it("removes members by owners, admins and themselves, never the last owner", () => {
    const relay = relayWith("private", bob, cid)
    assert.strictEqual(relay.say(bob, inChannel(9001, ["p", cid.pubkey])), "invalid: actor not authorized")
    assert.strictEqual(relay.say(ada, inChannel(9001, ["p", ada.pubkey])), "invalid: cannot remove the last owner")
    assert.strictEqual(relay.say(ada, inChannel(9022)), "invalid: cannot remove the last owner")
    assert.strictEqual(relay.say(bob, inChannel(9001, ["p", bob.pubkey])), "")
    assert.strictEqual(relay.say(cid, inChannel(9022)), "")
    assert.deepStrictEqual(roles(relay), { ada: "owner" })
    const [notice] = relay.query(cid, { kinds: [44_101], "#p": [cid.pubkey] })
    assert.deepStrictEqual(JSON.parse(notice?.content ?? ""), {
      actor: cid.pubkey,
      channel_id: CHANNEL,
      type: "member_removed"
    })
  })

  it("says that a stranger to an open channel is no member of it", () => {
    const relay = relayWith("open")
    assert.strictEqual(relay.say(eve, inChannel(9022)), "invalid: actor is not an active member")
    assert.strictEqual(relay.say(eve, inChannel(9001, ["p", ada.pubkey])), "invalid: actor not authorized")
    assert.strictEqual(relay.say(eve, inChannel(9002, ["topic", "x"])), "invalid: not a member")
  })

  it("knows an agent's owner from its authentication: the owner may remove it, and add it where others may not", () => {
    const relay = relayWith("private", bob)
    const agent = attestedBy(cid, bob)
    relay.connect(agent)
    // Who attested it first stays its owner.
    relay.connect(attestedBy(cid, ada))
    relay.must(agent, { kind: 10_100, content: JSON.stringify({ channel_add_policy: "owner_only" }) })
    assert.match(relay.say(ada, addMember(agent)), /^invalid: policy:owner_only — /)
    assert.strictEqual(relay.say(bob, addMember(agent)), "")
    assert.strictEqual(relay.say(bob, inChannel(9001, ["p", agent.pubkey])), "")
    relay.now += 1
    relay.must(agent, { kind: 10_100, content: JSON.stringify({ channel_add_policy: "nobody" }) })
    assert.match(relay.say(bob, addMember(agent)), /^invalid: policy:nobody — /)
    assert.deepStrictEqual(roles(relay), { ada: "owner", bob: "member" })
  })

  it("does not let an owner who is no member remove its agent", () => {
    const relay = relayWith("open", cid)
    relay.connect(attestedBy(cid, eve))
    assert.strictEqual(relay.say(eve, inChannel(9001, ["p", cid.pubkey])), "invalid: actor not authorized")
  })

  it("splits metadata between administrators and members", () => {
    const relay = relayWith("private", bob)
    assert.strictEqual(
      relay.say(bob, inChannel(9002, ["name", "x"], ["topic", "y"])),
      "invalid: actor not authorized for name/about/archived/visibility/ttl changes"
    )
    assert.strictEqual(
      relay.say(ada, inChannel(9002)),
      "invalid: kind:9002 must include at least one metadata tag (name, about, topic, purpose, visibility, ttl, archived)"
    )
    assert.strictEqual(relay.say(bob, inChannel(9002, ["topic", "ships"], ["purpose", "sail"])), "")
    assert.strictEqual(relay.say(ada, inChannel(9002, ["name", "fleet"], ["about", "boats"], ["ttl", "3600"])), "")
    const [metadata] = relay.query(ada, { kinds: [39_000], "#d": [CHANNEL] })
    assert.deepStrictEqual(metadata?.tags, [
      ["d", CHANNEL],
      ["name", "fleet"],
      ["about", "boats"],
      ["private"],
      ["closed"],
      ["t", "stream"],
      ["topic", "ships"],
      ["purpose", "sail"],
      ["ttl", "3600"]
    ])
    const notices = relay
      .query(ada, { kinds: [40_099], "#h": [CHANNEL] })
      .map(({ content }) => JSON.parse(content).type)
    assert.includeMembers(notices, [
      "topic_changed",
      "purpose_changed",
      "ttl_changed",
      "member_joined",
      "channel_created"
    ])
  })

  it("lets everybody join an open channel", () => {
    const relay = relayWith("open")
    assert.strictEqual(relay.say(eve, inChannel(9021)), "")
    assert.deepStrictEqual(roles(relay), { ada: "owner", eve: "member" })
  })

  it("lets nobody read or join an open channel that was deleted", () => {
    const relay = relayWith("open")
    relay.must(ada, message("gone"))
    relay.must(ada, inChannel(9008))
    assert.deepStrictEqual(relay.query(eve, { kinds: [9, 39_000] }), [])
    assert.strictEqual(relay.say(eve, inChannel(9021)), "invalid: channel not found")
  })

  it("deletes by an owner only; the channel is unreadable then and its id stays taken", () => {
    const relay = relayWith("private", bob)
    relay.must(bob, message("secret"))
    assert.strictEqual(relay.say(bob, inChannel(9008)), "invalid: only owner can delete group")
    relay.must(ada, inChannel(9008))
    assert.deepStrictEqual(relay.query(ada, { kinds: [9, 39_000, 39_002] }), [])
    assert.strictEqual(relay.say(ada, message("still here?")), "restricted: not a channel member")
    relay.now += 1
    assert.strictEqual(relay.say(bob, createChannel(CHANNEL)), "duplicate: channel already exists")
    assert.deepStrictEqual(
      relay.query(bob, { kinds: [44_101], "#p": [bob.pubkey] }).map((event) => tagValues(event, "h")),
      [[CHANNEL]]
    )
  })
})
