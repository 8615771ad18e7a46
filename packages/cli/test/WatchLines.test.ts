import type { Said, Utterance } from "@buzz-orchestra/relay/Conversation"
import { signedBy, testIdentity } from "@buzz-orchestra/relay/testing/TestIdentity"
import { assert, describe, it } from "@effect/vitest"
import { PLAIN } from "../src/Style.ts"
import { peopleOf, stateLine, statusLine, utteranceLine, utteranceObject } from "../src/WatchLines.ts"

const AT = Date.UTC(2026, 0, 1, 12, 3, 4)
const nameOf = (pubkey: string) => ({ a: "Ada", b: "Bob" })[pubkey] ?? pubkey
const target: Said = { id: "1", author: "b", text: "the\nold words" }
const line = (utterance: Utterance) => utteranceLine(utterance, AT, nameOf, PLAIN)
const said = (fields: Partial<Extract<Utterance, { readonly _tag: "Said" }>>): Utterance => ({
  _tag: "Said",
  author: "a",
  text: "hello",
  mentions: [],
  replyTo: undefined,
  isBroadcast: false,
  ...fields
})

describe("what is said in a watched channel", () => {
  it("is a line with its time, its author, whom it is for and what it answers", () => {
    assert.strictEqual(line(said({})), "12:03:04  Ada: hello")
    assert.strictEqual(line(said({ mentions: ["b", "x"] })), "12:03:04  Ada → Bob, x: hello")
    assert.strictEqual(
      line(said({ mentions: ["b"], replyTo: target })),
      "12:03:04  Ada → Bob (to Bob: “the old words”): hello"
    )
  })

  it("tells what is changed, taken back and felt about whose words", () => {
    assert.strictEqual(
      line({ _tag: "Edited", author: "b", text: "new", target }),
      "12:03:04  Bob edited “the old words”: new"
    )
    assert.strictEqual(line({ _tag: "Deleted", author: "a", target }), "12:03:04  Ada deleted Bob: “the old words”")
    assert.strictEqual(
      line({ _tag: "Reacted", author: "a", emoji: "👀", target }),
      "12:03:04  Ada 👀 Bob: “the old words”"
    )
    assert.strictEqual(line({ _tag: "Typing", author: "a" }), "12:03:04  Ada is typing")
    const announced = { _tag: "Announced", type: "member_joined", actor: "a", target: "b" } as const
    assert.strictEqual(line(announced), "12:03:04  Ada: member joined: Bob")
    assert.strictEqual(line({ ...announced, actor: undefined, target: undefined }), "12:03:04  member joined")
  })

  it("shows no line break, no escape sequence and no more than fits of what others wrote", () => {
    const wild = line(said({ text: `\u001b[31mred\u001b[0m\n${"x".repeat(1000)}` }))
    assert.match(wild, /^12:03:04 {2}Ada: red x+…$/)
    assert.isBelow(wild.length, 450)
  })

  it("names the people whose names are needed", () => {
    assert.deepStrictEqual(peopleOf(said({ mentions: ["b"], replyTo: { ...target, author: "c" } })), ["a", "b", "c"])
    assert.deepStrictEqual(peopleOf({ _tag: "Deleted", author: "a", target }), ["a", "b"])
    assert.deepStrictEqual(peopleOf({ _tag: "Announced", type: "x", actor: undefined, target: "b" }), ["b"])
  })

  it("is for programs an object with names and the signed event", () => {
    const event = signedBy(testIdentity(1), { kind: 9, content: "hello" })
    const read = (utterance: Utterance) => JSON.parse(utteranceObject(utterance, event, AT, nameOf)) as object
    assert.deepInclude(read(said({ mentions: ["b"], replyTo: target })), {
      event: "Said",
      at: "2026-01-01T12:03:04.000Z",
      author: "Ada",
      mentions: ["Bob"],
      reply_to: "1",
      reply_to_author: "Bob",
      message: { ...event }
    })
    assert.deepInclude(read({ _tag: "Deleted", author: "a", target }), { target: "1", target_author: "Bob" })
    assert.deepInclude(read({ _tag: "Announced", type: "x", actor: "a", target: undefined }), {
      type: "x",
      actor: "Ada",
      target: null
    })
  })

  it("tells of the connection only when it was lost", () => {
    assert.isUndefined(statusLine({ _tag: "Connected", attempt: 1 }, AT, PLAIN))
    assert.strictEqual(statusLine({ _tag: "Connected", attempt: 2 }, AT, PLAIN), "12:03:04  connected again")
    assert.strictEqual(
      statusLine({ _tag: "Reconnecting", attempt: 2, detail: "code 1006" }, AT, PLAIN),
      "12:03:04  connection lost: code 1006; connecting again"
    )
  })

  it("tells what agents do, without counting the seconds", () => {
    const view = { _tag: "InTurn", turn: 2, sinceMillis: AT - 9000 } as const
    assert.strictEqual(stateLine("lead-1", view, AT, PLAIN), "12:03:04  lead-1 in turn 2")
    assert.strictEqual(stateLine("lead-1", { _tag: "Idle", turns: 1 }, AT, PLAIN), "12:03:04  lead-1 idle after 1 turn")
  })
})
