/**
 * The command as one file, far from this checkout: what it forgets to carry is missing.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { output, run } from "./Finished.ts"
import { ROOT } from "./PackedPackages.ts"

const MANIFEST = join(ROOT, "examples/hello-team/manifest.yaml")
const TEST_LIMIT = 150_000

const directory = fs.mkdtempSync(join(tmpdir(), "one-file-"))
const built = join(directory, "built", "buzz-orchestra")
/** Not where it was built, and nothing of a package beside it. */
const binary = join(directory, "elsewhere", "buzz-orchestra")
const home = join(directory, "home")

const surroundings = (HOME: string) => ({ cwd: home, env: { HOME, PATH: process.env["PATH"] } })

/** Runs it by its own path, as a user does. */
const said = (args: ReadonlyArray<string>, HOME = home) => output(binary, args, surroundings(HOME))

beforeAll(async () => {
  await output(process.execPath, ["scripts/binary.mjs", built], { cwd: ROOT })
  for (const path of [home, join(binary, "..")]) fs.mkdirSync(path, { recursive: true })
  fs.renameSync(built, binary)
}, TEST_LIMIT)

afterAll(() => fs.rmSync(directory, { recursive: true, force: true }))

describe("the command as one file", () => {
  it("says its version without unpacking anything", async () => {
    const { version } = JSON.parse(fs.readFileSync(join(ROOT, "packages/cli/package.json"), "utf8"))
    assert.strictEqual(await said(["--version"]), `buzz-orchestra v${version}\n`)
    assert.deepStrictEqual(fs.readdirSync(home), [])
  })

  it(
    "unpacks itself once, however many begin at the same time, and runs the demo",
    async () => {
      const bundle = join(directory, "bundle")
      const [hash, demo] = await Promise.all([
        said(["manifest", "hash", MANIFEST]),
        run(binary, ["demo", "--json", "--out", bundle], surroundings(home)),
        said(["--help"])
      ])
      assert.match(hash, /^[0-9a-f]{64}\n$/)
      assert.strictEqual(demo.code, 0, demo.stderr)
      // A signature that WebAssembly does not check is a warning.
      assert.strictEqual(demo.stderr, "")
      assert.strictEqual(JSON.parse(fs.readFileSync(join(bundle, "agent/buzz/summary.json"), "utf8")).outcome, "done")
      const unpacked = fs.readdirSync(join(home, ".cache", "buzz-orchestra"))
      assert.lengthOf(
        unpacked.filter((name) => name !== "compiled"),
        1
      )
    },
    TEST_LIMIT
  )

  it("runs where nothing can be kept, and leaves nothing", async () => {
    const before = fs.readdirSync(tmpdir())
    const { code, stderr, stdout } = await run(binary, ["manifest", "hash", MANIFEST], surroundings("/dev/null"))
    assert.strictEqual(code, 0, stderr)
    assert.match(stdout, /^[0-9a-f]{64}\n$/)
    assert.match(stderr, /^warning: unpacked for this run only, since the cache cannot be written: ENOTDIR/)
    const left = fs.readdirSync(tmpdir()).filter((name) => name.startsWith("buzz-orchestra-") && !before.includes(name))
    assert.deepStrictEqual(left, [])
  })

  it("says that it is damaged when it is", async () => {
    const damaged = join(directory, "damaged")
    fs.writeFileSync(damaged, fs.readFileSync(binary).subarray(0, -1000), { mode: 0o755 })
    const { code, stderr } = await run(damaged, ["--help"], surroundings(join(directory, "other")))
    assert.strictEqual(code, 1)
    assert.match(stderr, /^error: .*damaged is damaged: it is not what was built\. /)
  })
})
