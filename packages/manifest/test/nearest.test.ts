import { assert, describe, it } from "@effect/vitest"
import { nearest } from "../src/internal/nearest.ts"

const FIELDS = ["max_calls", "max_cost_usd", "max_input_tokens", "id", "count"]

describe("nearest", () => {
  it.each([
    ["max_call", "max_calls"],
    ["maxcalls", "max_calls"],
    ["max_imput_token", "max_input_tokens"],
    ["di", undefined],
    ["ids", "id"],
    ["cuont", undefined],
    ["conut", undefined],
    ["counts", "count"],
    ["colour", undefined],
    ["", undefined],
    ["max_calls".repeat(1000), undefined]
  ])("to %.20s is %s", (word, expected) => {
    assert.strictEqual(nearest(word, FIELDS), expected)
  })
})
