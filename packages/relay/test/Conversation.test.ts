import { assert, describe, it } from "@effect/vitest"
import * as Conversation from "../src/Conversation.ts"
import type { NostrEvent } from "../src/NostrEvent.ts"

const [ADA, BOB, RELAY] = ["a".repeat(64), "b".repeat(64), "c".repeat(64)]

const event = (id: string, fields: Partial<NostrEvent> = {}): NostrEvent => ({
  id,
  pubkey: ADA,
  created_at: 100,
  kind: 9,
  tags: [["h", "channel"]],
  content: id,
  sig: "0".repeat(128),
  ...fields
})
const about = (target: string, fields: Partial<NostrEvent>) => event("x", { tags: [["e", target]], ...fields })

/** What the events mean, one after the other, a second apart. */
const read = (...events: ReadonlyArray<NostrEvent>) => {
  let conversation = Conversation.empty
  return events.map((one, index) => {
    const [next, utterance] = Conversation.step(conversation, one, index * 1000)
    conversation = next
    return utterance
  })
}
const last = (...events: ReadonlyArray<NostrEvent>) => read(...events).at(-1)

describe("a conversation", () => {
  it("is who says what to whom, in answer to what", () => {
    const reply = event("reply", {
      pubkey: BOB,
      tags: [
        ["h", "channel"],
        ["e", "question", "", "reply"],
        ["p", ADA],
        ["p", ADA],
        ["broadcast", "1"]
      ]
    })
    assert.deepStrictEqual(last(event("question"), reply), {
      _tag: "Said",
      author: BOB,
      text: "reply",
      mentions: [ADA],
      replyTo: { id: "question", author: ADA, text: "question" },
      isBroadcast: true
    })
    const deep = event("deep", {
      tags: [
        ["e", "question", "", "root"],
        ["e", "reply", "", "reply"]
      ]
    })
    assert.deepInclude(last(event("question"), reply, deep), { replyTo: { id: "reply", author: BOB, text: "reply" } })
    assert.deepInclude(last(reply), { replyTo: undefined })
  })

  it("takes an edit from the author alone, and shows what is answered as it reads then", () => {
    const edit = about("question", { kind: 40_003, content: "clearer" })
    assert.deepInclude(last(event("question"), edit), { _tag: "Edited", text: "clearer" })
    assert.isUndefined(last(event("question"), { ...edit, pubkey: BOB }))
    assert.isUndefined(last(edit))
    const reply = event("reply", { tags: [["e", "question", "", "reply"]] })
    assert.deepInclude(last(event("question"), edit, reply), {
      replyTo: { id: "question", author: ADA, text: "clearer" }
    })
  })

  it("forgets what its author or an administrator deletes, and nothing at another's word", () => {
    const [first, own] = [event("question"), about("question", { kind: 5 })]
    assert.deepInclude(last(first, own), { _tag: "Deleted", author: ADA })
    assert.isUndefined(last(first, { ...own, pubkey: BOB }))
    assert.deepInclude(last(first, { ...own, pubkey: BOB, kind: 9005 }), { _tag: "Deleted", author: BOB })
    assert.isUndefined(last(first, own, own))
    assert.isUndefined(last(first, about("a reaction", { kind: 5 })))
  })

  it("knows reactions by their target, and an empty one as a plus", () => {
    assert.deepInclude(last(event("question"), about("question", { kind: 7, content: "👀" })), { emoji: "👀" })
    assert.deepInclude(last(event("question"), about("question", { kind: 7, content: "" })), { emoji: "+" })
    assert.isUndefined(last(about("elsewhere", { kind: 7 })))
  })

  it("tells that somebody types once in a while, and again after they spoke", () => {
    const typing = event("t", { kind: 20_002 })
    const told = read(typing, typing, event("spoken"), typing, ...Array.from({ length: 16 }, () => typing))
    assert.deepStrictEqual(
      told.flatMap((utterance, index) => (utterance?._tag === "Typing" ? [index] : [])),
      [0, 3, 18]
    )
  })

  it("passes on what the relay announces, and no more than it says", () => {
    const system = (content: unknown) =>
      event("s", {
        kind: 40_099,
        pubkey: RELAY,
        content: typeof content === "string" ? content : JSON.stringify(content)
      })
    assert.deepStrictEqual(last(system({ type: "member_joined", actor: ADA, target: BOB })), {
      _tag: "Announced",
      type: "member_joined",
      actor: ADA,
      target: BOB
    })
    assert.deepInclude(last(system({ type: "channel_archived", actor: 7 })), { actor: undefined })
    assert.isUndefined(last(system("not json")))
    assert.isUndefined(last(event("x", { kind: 1 })))
  })
})
