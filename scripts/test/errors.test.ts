import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { OUTCOME_CODES, REASON_CODES } from "../../packages/cli/src/ExitCode.ts"
import { errorPage } from "../ErrorPage.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

describe("docs/errors.md", () => {
  const rows = [...errorPage().matchAll(/^\| `([\w-]+)` \| (\d+) \| (.+) \|$/gm)]

  it("has one row for each outcome and each reason, with its exit code", () => {
    const expected = Object.entries({ ...OUTCOME_CODES, ...REASON_CODES }).map(([name, code]) => `${name} ${code}`)
    const actual = rows.map(([, name, code]) => `${name} ${code}`)
    assert.deepStrictEqual(actual.toSorted(), expected.toSorted())
  })

  it("says in each row when it happens and what to do next, and shows no value that is none", () => {
    for (const [row, , , cells = ""] of rows) {
      const [when = "", next = ""] = cells.split(" | ")
      assert.isAbove(when.length, 10, row)
      assert.isAbove(next.length, 8, row)
      assert.notMatch(cells, /undefined|NaN|\[object/, row)
    }
  })

  it("that is not what the sources say is found, and written anew on request", () => {
    const directory = mkdtempSync(join(tmpdir(), "errors-"))
    try {
      for (const name of ["scripts", "docs"]) mkdirSync(join(directory, name))
      copyFileSync(`${root}scripts/errors.mjs`, `${directory}/scripts/errors.mjs`)
      writeFileSync(`${directory}/scripts/ErrorPage.ts`, 'export const errorPage = () => "first\\nnew\\n"\n')
      const run = (mode: string) =>
        spawnSync(process.execPath, ["scripts/errors.mjs", mode], { cwd: directory, encoding: "utf8" })
      assert.match(run("--check").stderr, /stale from line 1 on/)
      writeFileSync(`${directory}/docs/errors.md`, "first\nold\n")
      const stale = run("--check")
      assert.strictEqual(stale.status, 1)
      assert.match(stale.stderr, /stale from line 2 on[^]*there: +old\n *sources: new/)
      assert.strictEqual(run("--write").status, 0)
      assert.strictEqual(run("--check").status, 0)
      assert.strictEqual(readFileSync(`${directory}/docs/errors.md`, "utf8"), "first\nnew\n")
      assert.strictEqual(run("--chekc").status, 2)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})

/** `Schema.TaggedError<X>()("X"`, `Schema.TaggedErrorClass<X>(…)("X"`, `Data.TaggedError("X")`. */
const TAGGED = /\.Tagged(?:Error|ErrorClass)(?:<\w+>\([^)]*\))?\(\s*"([^"]+)"/g

describe("tags", () => {
  it("of errors are used once in the whole repository", () => {
    const found = new Map<string, Array<string>>()
    for (const name of readdirSync(`${root}packages`)) {
      const source = `${root}packages/${name}/src`
      for (const file of readdirSync(source, { recursive: true, encoding: "utf8" })) {
        if (!file.endsWith(".ts")) continue
        for (const [, tag = ""] of readFileSync(join(source, file), "utf8").matchAll(TAGGED))
          found.set(tag, [...(found.get(tag) ?? []), `${name}/${file}`])
      }
    }
    assert.isAbove(found.size, Object.keys(REASON_CODES).length, "the pattern no longer finds the errors")
    for (const tag of Object.keys(REASON_CODES)) assert.isTrue(found.has(tag), tag)
    assert.deepStrictEqual(
      [...found].filter(([, files]) => files.length > 1),
      []
    )
  })
})
