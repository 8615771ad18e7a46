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
    "quoted words come out of sh as they went in",
    { words: Arbitrary.schema(Schema.NonEmptyArray(Schema.String)) },
    ({ words }) => {
      const texts = words.map((word) => word.toWellFormed().replaceAll("\0", ""))
      const printed = execFileSync("sh", ["-c", `printf '%s\\0' ${texts.map(shellQuote).join(" ")}`], {
        encoding: "utf8"
      })
      assert.deepStrictEqual(printed.split("\0").slice(0, -1), texts)
    },
    // A process each.
    { arbitrary: { runs: 12 } }
  )
})
