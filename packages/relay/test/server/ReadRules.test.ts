import { assert, describe, it } from "@effect/vitest"
import type { Filter } from "../../src/Filter.ts"
import * as ReadRules from "../../src/server/ReadRules.ts"
import { person } from "./support.ts"

const me = person("me").pubkey
const other = person("other").pubkey
const someId = "a".repeat(64)

describe("ReadRules", () => {
  it("asks filters that could match p-gated kinds for the reader's own #p", () => {
    const cases: ReadonlyArray<readonly [Filter, ReadRules.Gate | undefined]> = [
      [{}, "p-gated"],
      [{ "#h": ["x"] }, "p-gated"],
      [{ kinds: [9, 44_100] }, "p-gated"],
      [{ kinds: [44_100], "#p": [other] }, "p-gated"],
      [{ kinds: [44_100], "#p": [me, other] }, "p-gated"],
      [{ kinds: [44_100], "#p": [] }, "p-gated"],
      [{ kinds: [1059] }, "p-gated"],
      [{ kinds: [24_200] }, "p-gated"],
      [{ kinds: [30_622], ids: [someId] }, "p-gated"],
      [{ kinds: [44_100, 44_101], "#p": [me] }, undefined],
      [{ "#p": [me] }, undefined],
      [{ ids: [someId] }, undefined],
      [{ ids: [] }, "p-gated"],
      [{ kinds: [] }, undefined],
      [{ kinds: [9] }, undefined]
    ]
    for (const [filter, gate] of cases)
      assert.strictEqual(ReadRules.closedGate([{ kinds: [9] }, filter], me), gate, JSON.stringify(filter))
  })

  it("shows agent memory to its author and to the one it is about", () => {
    const cases: ReadonlyArray<readonly [Filter, ReadRules.Gate | undefined]> = [
      [{ kinds: [30_174] }, "engram"],
      [{ kinds: [30_174], authors: [other] }, "engram"],
      [{ kinds: [30_174], authors: [me, other] }, "engram"],
      [{ kinds: [30_174], authors: [me] }, undefined],
      [{ kinds: [30_174], "#p": [me] }, undefined],
      [{ kinds: [30_174], ids: [someId] }, undefined],
      [{ kinds: [0], authors: [other] }, undefined]
    ]
    for (const [filter, gate] of cases)
      assert.strictEqual(ReadRules.closedGate([filter], me), gate, JSON.stringify(filter))
  })
})
