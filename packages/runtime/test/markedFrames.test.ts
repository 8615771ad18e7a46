import { assert, describe, it } from "@effect/vitest"
import { feedMarked, initialMarked, makeMarker, type MarkedToken } from "../src/internal/markedFrames.ts"
import { ALL_BYTES, between, bytesOf, cut, cuts, decode, encode, join } from "./support/bytes.ts"
import { Arbitrary } from "effect"

const marker = makeMarker("abcd")

const run = (chunks: ReadonlyArray<Uint8Array>): ReadonlyArray<MarkedToken> => {
  let state = initialMarked(marker)
  return chunks.flatMap((chunk) => {
    const [next, tokens] = feedMarked(state, chunk)
    state = next
    return tokens
  })
}

/** Lines, and the data between them as text of char codes: how data is cut means nothing. */
const normal = (tokens: ReadonlyArray<MarkedToken>): ReadonlyArray<string> => {
  const out: Array<string> = []
  let data: Array<number> = []
  for (const token of tokens) {
    if (token._tag === "Data") data.push(...token.bytes)
    else {
      out.push(data.join(" "), `line ${token.line}`)
      data = []
    }
  }
  return [...out, data.join(" ")]
}

/** Data without a marker, ended by a line. */
const section = Arbitrary.all([bytesOf([1, 0x61, 0x62, 0x63, 0x0a, 0], 30), between(0, 99)])

describe("markedFrames", () => {
  it.prop(
    "gives the data and the lines that were written, however the stream is cut",
    { sections: Arbitrary.array(section, { maxLength: 6 }), sizes: cuts },
    ({ sections, sizes }) => {
      const stream = join(sections.flatMap(([data, n]) => [data, encode(`${marker.text}${n}\n`)]))
      const expected = [...sections.flatMap(([data, n]) => [[...data].join(" "), `line ${n}`]), ""]
      assert.deepStrictEqual(normal(run(cut(stream, sizes))), expected)
    }
  )

  it("hands on every byte value as it is", () => {
    const tokens = run([ALL_BYTES, encode(`${marker.text}end\n`)])
    assert.deepStrictEqual(join(tokens.flatMap((token) => (token._tag === "Data" ? [token.bytes] : []))), ALL_BYTES)
  })

  it("holds back what may become a marker, and nothing else", () => {
    const [state, tokens] = feedMarked(initialMarked(marker), encode("out\u0001ab"))
    assert.deepStrictEqual(
      tokens.map((token) => (token._tag === "Data" ? decode(token.bytes) : token.line)),
      ["out"]
    )
    const [, rest] = feedMarked(state, encode("x"))
    assert.deepStrictEqual(
      rest.map((token) => (token._tag === "Data" ? decode(token.bytes) : token.line)),
      ["\u0001abx"]
    )
  })
})
