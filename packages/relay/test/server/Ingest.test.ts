import { assert, describe, it } from "@effect/vitest"
import type { NostrEvent, Tag } from "../../src/NostrEvent.ts"
import { CHANNEL, createChannel, type Draft, message, NOW, OTHER_CHANNEL, person, RuledRelay, sign } from "./support.ts"

const ada = person("ada")
const bob = person("bob")
const eve = person("eve")

/** A relay with a private channel of ada and bob, an open channel of ada, and one message. */
const relayWithChannels = () => {
  const relay = new RuledRelay()
  relay.must(ada, createChannel(CHANNEL))
  relay.must(ada, createChannel(OTHER_CHANNEL, "open"))
  relay.must(ada, {
    kind: 9000,
    tags: [
      ["h", CHANNEL],
      ["p", bob.pubkey]
    ]
  })
  return { relay, first: relay.must(ada, message("first")) }
}

const inOther = (...tags: ReadonlyArray<Tag>): ReadonlyArray<Tag> => [["h", OTHER_CHANNEL], ...tags]

const reply = (parent: string, root?: string, h = CHANNEL): Draft => ({
  kind: 9,
  content: "re",
  tags: [["h", h], ...(root === undefined ? [] : [["e", root, "", "root"] satisfies Tag]), ["e", parent, "", "reply"]]
})

const moderate = (id: string): Draft => ({
  kind: 9005,
  tags: [
    ["h", CHANNEL],
    ["e", id]
  ]
})

const archived = (value: string): Draft => ({
  kind: 9002,
  tags: [
    ["h", CHANNEL],
    ["archived", value]
  ]
})

describe("Ingest", () => {
  it("refuses with the relay's texts", () => {
    const { first, relay } = relayWithChannels()
    const second = relay.must(bob, reply(first.id))
    const note = relay.must(ada, { kind: 1, content: "global" })
    const elsewhere = relay.must(ada, { kind: 9, content: "x", tags: inOther() })
    const nobody = "f".repeat(64)
    const cases: ReadonlyArray<readonly [typeof ada, Draft, string]> = [
      [ada, { kind: 22_242 }, "invalid: AUTH events cannot be submitted"],
      [ada, { kind: 44_100 }, "invalid: membership notifications are relay-signed only"],
      [ada, { kind: 44_101 }, "invalid: membership notifications are relay-signed only"],
      [ada, { kind: 1059 }, "invalid: kind 1059 is only accepted via WebSocket"],
      [ada, { kind: 20_001 }, "invalid: kind 20001 is only accepted via WebSocket"],
      [ada, { kind: 40_901 }, "restricted: relay-only kind"],
      [ada, { kind: 40_902 }, "restricted: relay-only kind"],
      [ada, { kind: 30_622 }, "restricted: relay-only kind"],
      [
        ada,
        { kind: 9, content: "é".repeat(131_073) },
        "invalid: content exceeds maximum size of 262144 bytes (got 262146)"
      ],
      [ada, { kind: 2 }, "restricted: unknown event kind"],
      [ada, { kind: 39_002, tags: [["d", CHANNEL]] }, "restricted: unknown event kind"],
      [ada, { kind: 40_099, tags: [["h", CHANNEL]] }, "restricted: unknown event kind"],
      [ada, { kind: 20_002, tags: [["h", CHANNEL]] }, "restricted: unknown event kind"],
      [ada, { kind: 7, content: "+" }, "invalid: reaction must reference a target event via e tag"],
      [ada, { kind: 7, content: "+", tags: [["e", nobody]] }, "invalid: reaction target event not found"],
      [ada, { kind: 9, content: "hi" }, "invalid: channel-scoped events must include an h tag"],
      [
        ada,
        { kind: 9, content: "hi", tags: [["h", "general"]] },
        "invalid: channel-scoped events must include an h tag"
      ],
      [eve, message("hi"), "restricted: not a channel member"],
      [eve, { kind: 7, content: "+", tags: [["e", first.id]] }, "restricted: not a channel member"],
      [eve, { kind: 5, tags: [["e", first.id]] }, "restricted: not a channel member"],
      [ada, { kind: 9, content: "hi", tags: [["h", crypto.randomUUID()]] }, "restricted: not a channel member"],
      [ada, { kind: 5 }, "invalid: deletion events must reference exactly one target via e or a tag (got e=0, a=0)"],
      [
        ada,
        {
          kind: 9005,
          tags: [
            ["h", CHANNEL],
            ["e", first.id],
            ["e", second.id]
          ]
        },
        "invalid: deletion events must reference exactly one target via e or a tag (got e=2, a=0)"
      ],
      [bob, { kind: 5, tags: [["e", first.id]] }, "invalid: must be event author"],
      [
        bob,
        {
          kind: 9005,
          tags: [
            ["h", CHANNEL],
            ["e", first.id]
          ]
        },
        "invalid: must be event author or channel owner/admin"
      ],
      [
        ada,
        {
          kind: 9005,
          tags: [
            ["h", CHANNEL],
            ["e", nobody]
          ]
        },
        "invalid: target event not found"
      ],
      [
        ada,
        {
          kind: 9005,
          tags: [
            ["h", CHANNEL],
            ["e", elsewhere.id]
          ]
        },
        "invalid: target event belongs to a different channel"
      ],
      [
        bob,
        {
          kind: 40_003,
          content: "new",
          tags: [
            ["h", CHANNEL],
            ["e", first.id]
          ]
        },
        "invalid: must be event author to edit"
      ],
      [ada, { kind: 9007, tags: [["h", crypto.randomUUID()]] }, "invalid: channel name is required"],
      [
        ada,
        {
          kind: 9007,
          tags: [
            ["h", crypto.randomUUID()],
            ["name", "n"],
            ["visibility", "secret"]
          ]
        },
        "invalid visibility: secret"
      ],
      [
        ada,
        {
          kind: 9007,
          tags: [
            ["h", crypto.randomUUID()],
            ["name", "n"],
            ["channel_type", "voice"]
          ]
        },
        "invalid channel_type: voice"
      ],
      [eve, { kind: 9021 }, "invalid: join request must include an h tag"],
      [eve, { kind: 9021, tags: [["h", CHANNEL]] }, "restricted: channel is private"],
      [eve, { kind: 9021, tags: [["h", crypto.randomUUID()]] }, "invalid: channel not found"],
      [ada, reply(nobody), "invalid: reply parent not found"],
      [ada, reply(elsewhere.id), "invalid: parent event belongs to a different channel"],
      [ada, reply(note.id), "invalid: parent event has no channel association"],
      [ada, reply(second.id), "invalid: root tag does not match thread ancestry"],
      [ada, reply(second.id, second.id), "invalid: root tag does not match thread ancestry"],
      [ada, reply(second.id, first.id), ""],
      [ada, { kind: 0, content: "Ada" }, "invalid: kind:0 content must be valid JSON"],
      [ada, { kind: 7, content: "x".repeat(65), tags: [["e", first.id]] }, "invalid: reaction exceeds 64 characters"],
      [ada, message("pic", ["imeta", "url http://x/y"]), "invalid: imeta url does not name a blob of this relay"]
    ]
    for (const [author, draft, text] of cases) assert.strictEqual(relay.say(author, draft), text)
  })

  it("checks form before signature, signature before time, time before author, author before kind", () => {
    const { relay } = relayWithChannels()
    const answer = (event: NostrEvent, by = ada.pubkey) => relay.submit(event, { by })
    const late = { created_at: NOW - 901 }
    const forged = { ...sign(ada, { kind: 2, ...late }), sig: "0".repeat(128) }
    assert.strictEqual(
      answer({ ...forged, kind: 44_100 }).message,
      "invalid: membership notifications are relay-signed only"
    )
    assert.strictEqual(answer({ ...forged, content: "!" }).message, "invalid: event id does not match its content")
    assert.strictEqual(answer(forged).message, "invalid: bad event signature")
    assert.strictEqual(
      answer(sign(bob, { kind: 2, ...late })).message,
      "invalid: event timestamp too far from server time"
    )
    assert.deepStrictEqual(answer(sign(bob, { kind: 2 })), {
      accepted: false,
      message: "invalid: event pubkey does not match authenticated identity",
      status: 403
    })
    assert.deepStrictEqual(answer(sign(ada, { kind: 2 })), {
      accepted: false,
      message: "restricted: unknown event kind",
      status: 400
    })
  })

  it("takes events up to fifteen minutes off, and no further", () => {
    const { relay } = relayWithChannels()
    for (const [offset, text] of [
      [900, ""],
      [-900, ""],
      [901, "invalid: event timestamp too far from server time"],
      [-901, "invalid: event timestamp too far from server time"]
    ] as const)
      assert.strictEqual(relay.say(ada, { ...message(`at ${offset}`), created_at: NOW + offset }), text)
  })

  it("refuses a non-member with 400, as the real one does", () => {
    const { relay } = relayWithChannels()
    assert.strictEqual(relay.submit(sign(eve, message("hi"))).status, 400)
  })

  it("says duplicate of an event it has, and of one that a newer one replaced", () => {
    const relay = new RuledRelay()
    const profile = (name: string, created_at: number) =>
      sign(ada, { kind: 0, content: JSON.stringify({ name }), created_at })
    assert.strictEqual(relay.submit(profile("new", NOW)).message, "")
    assert.deepStrictEqual(relay.submit(profile("new", NOW)), { accepted: true, message: "duplicate:", status: 200 })
    assert.strictEqual(relay.submit(profile("old", NOW - 1)).message, "duplicate:")
    assert.deepStrictEqual(
      relay.query(ada, { kinds: [0], authors: [ada.pubkey] }).map(({ content }) => content),
      ['{"name":"new"}']
    )
  })

  it("does not accept a second channel with an id that is taken, nor a second equal reaction", () => {
    const { first, relay } = relayWithChannels()
    assert.deepStrictEqual(relay.submit(sign(bob, createChannel(CHANNEL))), {
      accepted: false,
      message: "duplicate: channel already exists",
      status: 200
    })
    const reaction = (content: string, at: number) =>
      sign(bob, { kind: 7, content, tags: [["e", first.id]], created_at: at })
    assert.isTrue(relay.submit(reaction("", NOW)).accepted)
    assert.strictEqual(relay.submit(reaction("", NOW)).message, "duplicate:")
    assert.deepStrictEqual(relay.submit(reaction("+", NOW + 1)), {
      accepted: false,
      message: "duplicate: reaction already exists",
      status: 200
    })
    assert.isTrue(relay.submit(reaction("👀", NOW + 1)).accepted)
  })

  it("lets a reaction be made again after it was taken back", () => {
    const { first, relay } = relayWithChannels()
    const reaction = relay.must(bob, { kind: 7, content: "👀", tags: [["e", first.id]] })
    relay.must(bob, { kind: 5, tags: [["e", reaction.id]] })
    assert.deepStrictEqual(relay.query(bob, { kinds: [7], "#e": [first.id] }), [])
    relay.now += 1
    relay.must(bob, { kind: 7, content: "👀", tags: [["e", first.id]] })
  })

  it("takes the last of several references for a reaction's target", () => {
    const { first, relay } = relayWithChannels()
    const elsewhere = relay.must(ada, { kind: 9, content: "x", tags: [["h", OTHER_CHANNEL]] })
    const tags: ReadonlyArray<Tag> = [
      ["e", first.id],
      ["e", elsewhere.id]
    ]
    const reaction = relay.must(eve, { kind: 7, content: "+", tags })
    assert.deepStrictEqual(relay.query(eve, { kinds: [7], "#h": [OTHER_CHANNEL] }), [reaction])
  })

  it("keeps reactions and deletions under the channel of their target", () => {
    const { first, relay } = relayWithChannels()
    const reaction = relay.must(bob, { kind: 7, content: "👀", tags: [["e", first.id]] })
    assert.deepStrictEqual(relay.query(ada, { kinds: [7], "#h": [CHANNEL] }), [reaction])
    assert.deepStrictEqual(relay.query(eve, { kinds: [7] }), [])
  })

  it("deletes by address only what the author owns", () => {
    const relay = new RuledRelay()
    relay.must(ada, { kind: 30_078, tags: [["d", "settings"]], content: "1" })
    const deletion: Draft = { kind: 5, tags: [["a", `30078:${ada.pubkey}:settings`]] }
    assert.strictEqual(relay.say(bob, deletion), "invalid: must be event author")
    relay.must(ada, deletion)
    assert.deepStrictEqual(relay.query(ada, { kinds: [30_078] }), [])
  })

  it("lets an owner delete a member's message, but nobody the relay's own word", () => {
    const { relay } = relayWithChannels()
    const spam = relay.must(bob, message("spam"))
    const [state] = relay.query(ada, { kinds: [39_002], "#h": [CHANNEL] })
    assert.strictEqual(relay.say(ada, moderate(state?.id ?? "")), "invalid: target event not found")
    relay.must(ada, moderate(spam.id))
    assert.deepStrictEqual(relay.query(ada, { ids: [spam.id] }), [])
    const notices = relay.query(ada, { kinds: [40_099], "#h": [CHANNEL] }).map(({ content }) => content)
    assert.include(notices, JSON.stringify({ type: "message_deleted", actor: ada.pubkey }))
  })

  it("refuses replies deeper than a hundred", () => {
    const { first, relay } = relayWithChannels()
    let parent = first
    for (let depth = 1; depth <= 100; depth++) {
      const root: ReadonlyArray<Tag> = depth === 1 ? [] : [["e", first.id, "", "root"]]
      parent = relay.must(ada, message(`depth ${depth}`, ...root, ["e", parent.id, "", "reply"]))
    }
    assert.strictEqual(
      relay.say(ada, message("too deep", ["e", first.id, "", "root"], ["e", parent.id, "", "reply"])),
      "invalid: thread depth limit exceeded"
    )
  })

  it("takes nothing into an archived channel until it is unarchived", () => {
    const { relay } = relayWithChannels()
    relay.must(ada, archived("true"))
    assert.strictEqual(relay.say(bob, message("hi")), "invalid: channel is archived")
    assert.strictEqual(relay.say(ada, { ...archived("true"), created_at: NOW + 1 }), "invalid: channel is archived")
    relay.must(ada, archived("false"))
    relay.must(bob, message("hi"))
  })

  it("takes gift wraps over WebSocket from throw-away keys", () => {
    const relay = new RuledRelay()
    const wrap = sign(eve, { kind: 1059, tags: [["p", bob.pubkey]] })
    assert.strictEqual(relay.submit(wrap, { by: ada.pubkey, via: "ws" }).message, "")
    assert.deepStrictEqual(relay.query(bob, { kinds: [1059], "#p": [bob.pubkey] }), [wrap])
    assert.deepStrictEqual(relay.query(eve, { ids: [wrap.id] }), [wrap])
    assert.deepStrictEqual(relay.query(ada, { ids: [wrap.id] }), [])
  })

  it("keeps presence out of channels, whatever its tags say", () => {
    const { relay } = relayWithChannels()
    const reader = relay.connect(ada)
    relay.tell(reader, "REQ", "channel", { kinds: [20_001], "#h": [CHANNEL] })
    relay.tell(reader, "REQ", "global", { kinds: [20_001] })
    relay.received(reader)
    const online = relay.must(bob, { kind: 20_001, content: "online", tags: [["h", CHANNEL]] }, "ws")
    assert.deepStrictEqual(relay.received(reader), [["EVENT", "global", online]])
  })

  it("passes ephemeral events on, forgets them, and does not look at their time", () => {
    const { relay } = relayWithChannels()
    const typing: Draft = { kind: 20_002, tags: [["h", CHANNEL]], created_at: NOW - 5000 }
    const reader = relay.connect(ada)
    relay.tell(reader, "REQ", "s", { kinds: [20_002], "#h": [CHANNEL] })
    relay.received(reader)
    const event = relay.must(bob, typing, "ws")
    assert.deepStrictEqual(relay.received(reader), [["EVENT", "s", event]])
    assert.deepStrictEqual(relay.query(ada, { kinds: [20_002], "#h": [CHANNEL] }), [])
    assert.strictEqual(relay.say(eve, typing, "ws"), "restricted: not a channel member")
    assert.strictEqual(relay.say(ada, { kind: 27_235 }, "ws"), "restricted: unknown event kind")
    assert.strictEqual(relay.say(ada, { kind: 22_242 }, "ws"), "invalid: AUTH events cannot be submitted via EVENT")
  })
})
