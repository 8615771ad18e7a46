/**
 * The build of the reference stack on its first use, when nothing of it is cached. It takes seconds, and every other test runs
 * on what was built before.
 */
import { assert, describe, it } from "@effect/vitest"
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { output } from "./Finished.ts"
import { ROOT } from "./PackedPackages.ts"

const PROGRAMS = readdirSync(join(ROOT, "packages/reference-stack/src/bin")).map((file) => basename(file, ".ts"))

const build = (cache: string) =>
  output(process.execPath, ["packages/reference-stack/scripts/build.mjs"], {
    cwd: ROOT,
    env: { ...process.env, REFERENCE_STACK_CACHE: cache }
  })

describe("the programs of the reference stack", () => {
  it("are built once, however many ask for them at the same time", async () => {
    const cache = mkdtempSync(join(tmpdir(), "stack-cache-"))
    try {
      const printed = await Promise.all([build(cache), build(cache)])
      const directory = printed[0].trimEnd()
      assert.deepStrictEqual(printed, [`${directory}\n`, `${directory}\n`])
      // No half build and nothing temporary is left.
      assert.deepStrictEqual(readdirSync(cache), [basename(directory)])
      assert.deepStrictEqual(readdirSync(directory).toSorted(), ["package.json", ...PROGRAMS].toSorted())
      for (const program of PROGRAMS)
        assert.strictEqual(statSync(join(directory, program)).mode & 0o777, 0o755, program)
    } finally {
      rmSync(cache, { recursive: true, force: true })
    }
  })
})
