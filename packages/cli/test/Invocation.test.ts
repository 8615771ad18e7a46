import { assert, describe, it } from "@effect/vitest"
import { fromScript } from "../src/Invocation.ts"

describe("Invocation", () => {
  it("is what can be typed: the command, or Node and the file it is in", () => {
    assert.strictEqual(fromScript("/usr/local/bin/buzz-orchestra", "/home/me"), "buzz-orchestra")
    assert.strictEqual(fromScript(undefined, "/home/me"), "buzz-orchestra")
    assert.strictEqual(fromScript("/src/packages/cli/src/bin.ts", "/src"), "node packages/cli/src/bin.ts")
    assert.strictEqual(fromScript("/src/packages/cli/src/bin.ts", "/src/docs"), "node ../packages/cli/src/bin.ts")
  })
})
