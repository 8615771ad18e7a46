import * as Redaction from "@buzz-orchestra/runtime/Redaction"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Schema } from "effect"
import { scrubbed } from "../src/internal/scrubbed.ts"

const SECRET = 'pa$$ "word"/+é\\x'
const redactor = Redaction.make([Redacted.make(SECRET)])
const scrub = (text: string) => Redaction.apply(redactor, text)

const Text = Schema.Array(
  Schema.Union([
    Schema.String,
    Schema.Literals([
      SECRET,
      SECRET.slice(0, 6),
      SECRET.slice(6),
      "sk-0123456789abcdefghij",
      "Bearer 0123456789abcdef"
    ]),
    Schema.Literals(["\n", "\t", "\u001b[31m", '"', "\\", "\\n", " ", "x"])
  ])
)

describe("scrubbed", () => {
  it.prop(
    "takes out of a document what would be taken out of each of its texts",
    { words: Schema.Array(Text) },
    ({ words }) => {
      const texts = words.map((parts) => parts.join(""))
      const document = { list: texts, inside: { text: texts[0] ?? null, number: 1 } }
      const expected = {
        list: texts.map(scrub),
        inside: { text: texts[0] === undefined ? null : scrub(texts[0]), number: 1 }
      }
      assert.deepStrictEqual(scrubbed(document, scrub), expected)
    },
    { arbitrary: { runs: 200 } }
  )

  it("returns the very same document where there is no secret", () => {
    const document = { a: ["b"] }
    assert.strictEqual(scrubbed(document, scrub), document)
  })
})
