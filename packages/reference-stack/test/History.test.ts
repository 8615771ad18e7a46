import * as History from "@buzz-orchestra/reference-stack/buzz-agent/History"
import type { HistoryItem } from "@buzz-orchestra/reference-stack/buzz-agent/ModelApi"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"

const prompt = (text: string): HistoryItem => ({ _tag: "Prompt", text })

/** A reply with a call, and its result. */
const round = (id: string): ReadonlyArray<HistoryItem> => [
  {
    _tag: "Reply",
    reply: {
      text: id,
      calls: [{ id, name: "dev__shell", args: {} }],
      stop: "tool_use",
      usage: undefined,
      native: undefined
    }
  },
  { _tag: "Results", results: [{ id, text: `result ${id}`, isError: false }] }
]

describe("History", () => {
  it("leaves room for an answer, and a tenth of the window in any case", () => {
    assert.strictEqual(History.limit({ maxContextTokens: 200_000, maxOutputTokens: 65_536 }), 134_464)
    assert.strictEqual(History.limit({ maxContextTokens: 200_000, maxOutputTokens: 1000 }), 180_000)
  })

  it("counts at most one token for a byte", () => {
    assert.isAtLeast(History.estimate("system", [prompt("ü".repeat(100))]), 206)
  })

  it("keeps the newer half and what it answers", () => {
    const [first, second, third] = [round("1"), round("2"), round("3")]
    assert.deepStrictEqual(History.truncated([prompt("old"), ...first, prompt("new"), ...second, ...third]), [
      prompt("new"),
      ...second,
      ...third
    ])
    assert.deepStrictEqual(History.truncated([prompt("task"), ...first, ...second, ...third]), [
      prompt("task"),
      ...third
    ])
    assert.deepStrictEqual(History.truncated([prompt("task"), ...first]), [prompt("task"), ...first])
  })

  it.prop(
    "never begins with a reply, and never parts a call from its result",
    { turns: Arbitrary.schema(Schema.NonEmptyArray(Schema.Literals([0, 1, 2, 5]))) },
    ({ turns }) => {
      const history = turns.flatMap((rounds, turn) => [
        prompt(`${turn}`),
        ...Array.from({ length: rounds }, (_, index) => round(`${turn}.${index}`)).flat()
      ])
      const kept = History.truncated(history)
      assert.isAtMost(kept.length, history.length)
      assert.strictEqual(kept[0]?._tag, "Prompt")
      assert.deepStrictEqual(kept.at(-1), history.at(-1))
      for (const [index, item] of kept.entries()) {
        if (item._tag === "Results") assert.strictEqual(kept[index - 1]?._tag, "Reply")
        if (item._tag === "Reply") assert.strictEqual(kept[index + 1]?._tag, "Results")
      }
    }
  )
})
