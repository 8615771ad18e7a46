import { assert, describe, it } from "@effect/vitest"
import * as ChannelHistory from "../src/ChannelHistory.ts"
import { signedBy, testIdentity } from "../src/testing/TestIdentity.ts"

const event = (kind: number, ...channels: ReadonlyArray<string>) =>
  signedBy(testIdentity(1), { kind, tags: channels.map((channel) => ["h", channel] as const) })

describe("ChannelHistory", () => {
  it("lets an event say where it belongs, and the relay where a reaction or deletion does", () => {
    assert.isTrue(ChannelHistory.belongsTo(event(9, "here"), "here"))
    assert.isFalse(ChannelHistory.belongsTo(event(9, "there"), "here"))
    assert.isFalse(ChannelHistory.belongsTo(event(9), "here"))
    assert.isTrue(ChannelHistory.belongsTo(event(5), "here"))
    assert.isTrue(ChannelHistory.belongsTo(event(7), "here"))
    assert.isFalse(ChannelHistory.belongsTo(event(5, "there"), "here"))
  })

  it("is read oldest first, and an answer after what it answers, whatever the clocks say", () => {
    const say = (content: string, created_at: number, ...answered: ReadonlyArray<{ readonly id: string }>) =>
      signedBy(testIdentity(1), { kind: 9, created_at, content, tags: answered.map(({ id }) => ["e", id] as const) })
    const question = say("question", 100)
    const answer = say("answer", 50, question)
    const thanks = say("thanks", 10, question, answer)
    const other = say("other", 60, { id: "0".repeat(64) })
    const read = ChannelHistory.inReadingOrder([thanks, question, other, answer])
    assert.deepStrictEqual(
      read.map(({ content }) => content),
      ["question", "answer", "thanks", "other"]
    )
    const long = Array.from({ length: 20_000 }, (_, n) => ({
      ...question,
      id: String(n),
      created_at: 20_000 - n,
      tags: n === 0 ? [] : [["e", String(n - 1)] as const]
    }))
    assert.deepStrictEqual(ChannelHistory.inReadingOrder(long), long)
  })

  it("asks for the page below the last event", () => {
    const first = { kinds: [9], "#h": ["here"], limit: 500 }
    assert.deepStrictEqual(ChannelHistory.page("here", [9], undefined), first)
    const last = event(9, "here")
    assert.deepStrictEqual(ChannelHistory.page("here", [9], last), {
      ...first,
      until: last.created_at,
      before_id: last.id
    })
  })

  it("goes on while pages bring something new, and knows when it cannot", () => {
    assert.strictEqual(ChannelHistory.afterPage(1, 1), "continue")
    assert.strictEqual(ChannelHistory.afterPage(ChannelHistory.PAGE_SIZE, 1), "continue")
    assert.strictEqual(ChannelHistory.afterPage(0, 0), "complete")
    assert.strictEqual(ChannelHistory.afterPage(3, 0), "complete")
    assert.strictEqual(ChannelHistory.afterPage(ChannelHistory.PAGE_SIZE, 0), "stuck")
  })
})
