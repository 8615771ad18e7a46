import { assert, describe, it } from "@effect/vitest"
import * as TextEdit from "@buzz-orchestra/reference-stack/buzz-dev-mcp/TextEdit"
import { Arbitrary, Effect, Result, Schema } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const edit = (content: string, oldText: string, newText: string, all = false) =>
  TextEdit.replace("a.txt", content, { oldText, newText, all })

/** Applies diffs, and was written by others. */
const ORACLE = "patch"

const refusal = (...args: Parameters<typeof edit>): string =>
  Result.match(edit(...args), { onSuccess: () => "edited", onFailure: String })

/** A file, and what is replaced in it everywhere. There are few different lines, so that they repeat. */
const Change = Schema.Struct({
  content: Schema.Array(Schema.Literals(["x", "x\n", "a", "a\n", "b\n", "\n", "ax b\n"])),
  newText: Schema.Literals(["", "y", "y\n", "\n", "a\nb"]),
  oldText: Schema.Literals(["x", "x\n", "a\n", "\n"])
})

/** What the files become by it. One process for all of them. */
const patched = (cases: ReadonlyArray<{ readonly content: string; readonly diff: string }>): ReadonlyArray<string> => {
  const directory = mkdtempSync(join(tmpdir(), "text-edit-"))
  try {
    for (const [index, { content }] of cases.entries()) writeFileSync(join(directory, `${index}.txt`), content)
    const input = cases.map(({ diff }, index) => `${diff.replaceAll("a.txt", `${index}.txt`)}\n`).join("")
    execFileSync(ORACLE, ["-p1", "--silent", "--fuzz=0"], { cwd: directory, input })
    return cases.map((_, index) => readFileSync(join(directory, `${index}.txt`), "utf8"))
  } finally {
    rmSync(directory, { recursive: true })
  }
}

describe("TextEdit", () => {
  it("shows a change with three lines around it", () => {
    const content = ["1", "2", "3", "4", "5", "6", "7", "8", "9"].join("\n")
    assert.deepStrictEqual(
      edit(`${content}\n`, "5", "five"),
      Result.succeed({
        content: `${content.replace("5", "five")}\n`,
        diff: "--- a/a.txt\n+++ b/a.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8"
      })
    )
  })

  it("refuses what is not there, what is there twice, and what changes nothing", () => {
    assert.strictEqual(refusal("abc", "x", "y"), "old_str not found in a.txt")
    assert.include(refusal("a a", "a", "b"), "occurs 2 times in a.txt")
    assert.include(refusal("a", "a", "a"), "are the same")
    assert.include(refusal("a", "", "a"), "must not be empty")
    assert.strictEqual(Result.getOrThrow(edit("a a", "a", "b", true)).content, "b b")
  })

  const hasPatch = spawnSync(ORACLE, ["--version"]).status === 0

  it.effect.skipIf(!hasPatch)("writes diffs that patch turns into the new file", () =>
    Effect.gen(function* () {
      const samples = yield* Arbitrary.sampleEffect(Arbitrary.schema(Change), { count: 300, size: 30 })
      const cases = samples.flatMap(({ content: parts, newText, oldText }) => {
        const content = parts.join("")
        const edited = edit(content, oldText, newText, true)
        return Result.isSuccess(edited)
          ? [{ content, diff: edited.success.diff, expected: edited.success.content }]
          : []
      })
      assert.isAbove(cases.length, 50)
      for (const { content, expected } of cases) assert.notStrictEqual(content, expected)
      const results = patched(cases)
      for (const [index, { content, diff, expected }] of cases.entries())
        assert.strictEqual(results[index], expected, `${JSON.stringify(content)}\n${diff}`)
    })
  )
})
