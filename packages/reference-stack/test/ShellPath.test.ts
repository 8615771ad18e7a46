import { assert, describe, it } from "@effect/vitest"
import * as ShellPath from "@buzz-orchestra/reference-stack/buzz-dev-mcp/ShellPath"
import { Arbitrary, Schema } from "effect"
import { shellQuote } from "../src/internal/shellQuote.ts"
import { execFileSync } from "node:child_process"

describe("ShellPath", () => {
  it("is buzz only when it is asked to be", () => {
    assert.deepStrictEqual(ShellPath.multicall(["--as-buzz", "users", "get"]), { buzz: ["users", "get"] })
    assert.isUndefined(ShellPath.multicall([]))
    assert.isUndefined(ShellPath.multicall(["users", "--as-buzz"]))
  })

  it("puts the directory first on PATH and hides the key for git", () => {
    assert.deepStrictEqual(
      ShellPath.environment(
        { PATH: "/usr/bin:/bin", NOSTR_PRIVATE_KEY: "secret", BUZZ_PRIVATE_KEY: "own", NONE: undefined },
        "/shim"
      ),
      { PATH: "/shim:/usr/bin:/bin", BUZZ_PRIVATE_KEY: "own" }
    )
    assert.deepStrictEqual(ShellPath.environment({}, "/shim"), { PATH: "/shim" })
  })

  it.prop(
    "a quoted word comes out of sh as it went in",
    { word: Arbitrary.schema(Schema.String) },
    ({ word }) => {
      const text = word.toWellFormed().replaceAll("\0", "")
      assert.strictEqual(execFileSync("sh", ["-c", `printf %s ${shellQuote(text)}`], { encoding: "utf8" }), text)
    },
    { arbitrary: { runs: 40 } }
  )
})
