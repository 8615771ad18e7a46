import { assert, describe, it } from "@effect/vitest"
import { renderPath } from "../src/FieldPath.ts"

describe("renderPath", () => {
  it.each([
    [[], ""],
    [["roster", 1, "generation", "max_output_tokens"], "roster[1].generation.max_output_tokens"],
    [["prices", "moonshotai/kimi-k3", "cache_read_rate"], 'prices["moonshotai/kimi-k3"].cache_read_rate'],
    [["a.b"], '["a.b"]'],
    [["metadata", ""], 'metadata[""]'],
    [["metadata", 'x"y\n'], 'metadata["x\\"y\\n"]'],
    [["gpt-5"], "gpt-5"]
  ])("%j as %s", (path, text) => {
    assert.strictEqual(renderPath(path), text)
  })

  it("does not repeat a key of any length", () => {
    assert.isBelow(renderPath(["x ".repeat(10_000)]).length, 100)
  })
})
