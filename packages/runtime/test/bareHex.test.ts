import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import * as BareHex from "../src/internal/bareHex.ts"

const WORD = "0123456789abcdefABCDEF0123456789abcdef0123456789abcdef0123456789"

/** What the search is to find, by the pattern that says it. */
const expected = (text: string): ReadonlyArray<BareHex.BareHex> =>
  [...text.matchAll(/(?<![0-9A-Za-z_])[0-9a-fA-F]{64}(?![0-9A-Za-z_])/g)].map(({ 0: digits, index }) => ({
    digits: digits.toLowerCase(),
    line: text.slice(0, index).split("\n").length,
    isWhole: text[index - 1] === '"' && text[index - 2] !== "\\" && text[index + 64] === '"'
  }))

const found = (text: string, cuts: ReadonlyArray<number>) => {
  const bytes = new TextEncoder().encode(text)
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)
  const search = BareHex.search()
  const parts = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
  return [...parts.flatMap((part) => search.update(part)), ...search.finish()]
}

/** Words, parts of words, and what may stand around them. */
const pieces = Arbitrary.schema(
  Schema.Array(
    Schema.Union([
      Schema.Literals([WORD, WORD.slice(1), `${WORD}0`, WORD.slice(0, 32), '"', "\\", "\n", " ", ":", "x", "_", "é"]),
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 150 }))
    ])
  )
)
const cuts = Arbitrary.schema(Schema.Array(Schema.Natural))

describe("words of 64 hexadecimal digits", () => {
  it.prop("are found wherever they stand, however the text is cut into pieces", [pieces, cuts], ([parts, cuts]) => {
    const text = parts.map((part) => (typeof part === "number" ? "a".repeat(part) : part)).join("")
    assert.deepStrictEqual(found(text, cuts), expected(text))
  })

  it("are found in a text of every length of digits, at every place", () => {
    for (let before = 0; before < 130; before++)
      for (const digits of [63, 64, 65, 128]) {
        const text = `${" ".repeat(before)}${"b".repeat(digits)} ${WORD}`
        assert.deepStrictEqual(found(text, [before + 1, before + 40]), expected(text))
      }
  })
})
