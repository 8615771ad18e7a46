import { assert, describe, it } from "@effect/vitest"
import { makeHeadTail } from "../src/internal/headTail.ts"
import { between, bytesOf, cut, cuts, join } from "./support/bytes.ts"

describe("headTail", () => {
  it.prop(
    "keeps both ends within the limit and counts the rest",
    { bytes: bytesOf([0, 1, 2, 3, 4, 5, 6, 7], 60), limit: between(0, 40), sizes: cuts },
    ({ bytes, limit, sizes }) => {
      const kept = makeHeadTail(limit)
      for (const chunk of cut(bytes, sizes)) kept.push(chunk)
      const head = Math.ceil(limit / 2)
      const expected =
        bytes.length <= limit ? bytes : join([bytes.subarray(0, head), bytes.subarray(bytes.length - (limit - head))])
      assert.deepStrictEqual([...kept.bytes()], [...expected])
      assert.strictEqual(kept.omitted(), bytes.length - expected.length)
    }
  )
})
