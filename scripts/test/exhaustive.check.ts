/**
 * Adds a reason to every union of every package, and an outcome, in a copy of the sources, and lets the compiler say what is
 * missing: that nothing can be added without an exit code, a rendering and a line of the page is held by the types alone.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const PACKAGES = ["manifest", "relay", "runtime", "cli"] as const

/** Sums of other unions; a reason is added to a part. */
const SUMS = new Set(["ManifestReason", "RuntimeLaunchReason", "LaunchEnvironmentReason"])

/** Parts that the runtime's sum takes whole; members of the others stand in it one by one. */
const TAKEN_WHOLE = new Set(["EnvironmentReason", "PrepareReason", "InstallReason"])

/** The sources and what the compiler needs, in a directory of their own. */
const copySources = (to: string): void => {
  for (const name of PACKAGES)
    for (const part of ["src", "package.json", "tsconfig.json", "node_modules"])
      cpSync(`${root}packages/${name}/${part}`, `${to}/packages/${name}/${part}`, {
        recursive: true,
        verbatimSymlinks: true
      })
  for (const file of ["tsconfig.base.json", "vitest.config.ts", "package.json"]) cpSync(root + file, join(to, file))
  for (const file of ["ErrorLines.ts", "ErrorPage.ts", "tsconfig.json"])
    cpSync(`${root}scripts/${file}`, `${to}/scripts/${file}`)
  mkdirSync(`${to}/node_modules`)
  // Not the directory itself: the compiler keeps its notes there.
  for (const name of readdirSync(`${root}node_modules`))
    if (name === ".pnpm" || !name.startsWith("."))
      symlinkSync(`${root}node_modules/${name}`, `${to}/node_modules/${name}`)
}

const UNION = /(?:\/\*\*[^\n]*\*\/\n)?export const (\w+Reason) = Schema\.Union\(\[/g

/** Adds `Novel<Union>` to the unions of a file and returns the names of the unions. */
const addReasons = (file: string): ReadonlyArray<string> => {
  const unions: Array<string> = []
  const source = readFileSync(file, "utf8").replaceAll(UNION, (head, union: string) => {
    if (SUMS.has(union)) return head
    unions.push(union)
    const tag = `Novel${union}`
    const message = `override get message(): string {\n    return "new"\n  }`
    const novel = `/** New. */\nexport class ${tag} extends Schema.TaggedError<${tag}>()("${tag}", {}) {\n  ${message}\n}\n`
    return `${novel}\n${head}${tag}, `
  })
  if (unions.length > 0) writeFileSync(file, source)
  return unions
}

/** What the compiler misses in a file, one number for each complaint: how many properties an object lacks. */
const missingIn = (output: string, file: string): ReadonlyArray<number> =>
  output
    .split(/^(?=\S)/m)
    .filter((complaint) => complaint.startsWith(`${file}(`))
    .flatMap((complaint) => {
      if (/Property '"?[Nn]ovel[\w-]+"?' is missing in type/.test(complaint)) return [1]
      const [, names, more = "0"] =
        /following properties from type .*: (Novel[\w, ]+?)(?:, and (\d+) more\.)?$/m.exec(complaint) ?? []
      return names === undefined ? [] : [names.split(", ").length + Number(more)]
    })
    .toSorted((a, b) => a - b)

describe("a new reason in any package, and a new outcome", () => {
  let directory = ""
  let output = ""
  const unions: Record<string, ReadonlyArray<string>> = {}

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "exhaustive-"))
    copySources(directory)
    for (const name of PACKAGES) {
      const source = `${directory}/packages/${name}/src`
      const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))
      unions[name] = files.flatMap((file) => addReasons(join(source, file)))
    }
    const outcomes = `${directory}/packages/runtime/src/TrialEvent.ts`
    writeFileSync(
      outcomes,
      readFileSync(outcomes, "utf8").replace("export const OUTCOMES = [", 'export const OUTCOMES = ["novel-outcome", ')
    )
    output = spawnSync(`${root}node_modules/.bin/tsc`, ["-b", "scripts"], { cwd: directory, encoding: "utf8" }).stdout
  }, 120_000)
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  const count = (name: (typeof PACKAGES)[number]) => unions[name]?.length ?? 0
  const wholes = () => (unions["runtime"] ?? []).filter((union) => TAKEN_WHOLE.has(union)).length
  const everything = () => count("cli") + wholes() + count("relay") + count("manifest")

  it("is tried on every union", () => {
    assert.deepStrictEqual(unions["cli"], ["CommandReason"])
    assert.sameMembers([...(unions["relay"] ?? [])], ["RelayReason", "ProvisioningReason"])
    assert.strictEqual(count("manifest"), 6)
    assert.strictEqual(count("runtime"), 10)
    assert.strictEqual(wholes(), TAKEN_WHOLE.size)
  })

  it("does not compile without an exit code", () => {
    const tables = [1, count("cli"), wholes(), count("relay"), count("manifest"), everything()]
    assert.deepStrictEqual(
      missingIn(output, "packages/cli/src/ExitCode.ts"),
      tables.toSorted((a, b) => a - b)
    )
  })

  it("does not compile without a rendering", () => {
    const missing = ["command", "launch", "relay", "manifest"].map((name) =>
      missingIn(output, `packages/cli/src/internal/${name}Renderings.ts`)
    )
    assert.deepStrictEqual(missing, [[count("cli")], [wholes()], [1, 1], [count("manifest")]])
  })

  it("does not compile without a line of the page", () => {
    assert.deepStrictEqual(missingIn(output, "scripts/ErrorLines.ts"), [1, everything()])
  })

  it("does not compile in a phase of a trial without being in the sum of all phases", () => {
    const parts = (unions["runtime"] ?? []).filter((union) => !TAKEN_WHOLE.has(union))
    assert.strictEqual(parts.length, 7)
    for (const union of parts) assert.include(output, `Type 'Novel${union}' is not assignable to type`)
  })
})
