/**
 * The packages as npm installs them, `examples/embed` on them, and the command. Nothing here sees this checkout: what a
 * tarball forgets is missing.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestContext } from "vitest"
import { output, run } from "./Finished.ts"
import { install, type Installation, OLDEST_NODE, oldestNode, RegistryUnreachable, ROOT } from "./PackedPackages.ts"

/** The first run builds, packs and installs. */
const INSTALL_LIMIT = 600_000
const TEST_LIMIT = 150_000

let installation: Installation | undefined
let unreachable = ""
let oldest: string | undefined
/** Holds a copy of the example, and whatever the tests write. */
const temporary = fs.mkdtempSync(join(tmpdir(), "embed-"))
const app = join(temporary, "app")

beforeAll(async () => {
  try {
    installation = await install()
    if (process.platform === "linux" && process.arch === "x64") oldest = await oldestNode()
  } catch (error) {
    if (!(error instanceof RegistryUnreachable)) throw error
    unreachable = error.message
    console.warn(`The packed packages are not tested: the npm registry cannot be reached (${unreachable})`)
    return
  }
  // Node runs no TypeScript below node_modules, where the cache lies.
  fs.cpSync(join(ROOT, "examples/embed"), app, { recursive: true })
  fs.symlinkSync(join(installation.embed, "node_modules"), join(app, "node_modules"))
}, INSTALL_LIMIT)

afterAll(() => fs.rmSync(temporary, { recursive: true, force: true }))

/** What the tests run on. Skips the test, saying why, where it could not be installed. */
const need = ({ skip }: TestContext): Installation =>
  installation ?? skip(`the npm registry cannot be reached: ${unreachable}`)

/** The Node of this test run, and the oldest that the packages name, where the registry has it for this machine. */
const nodes = () => ({ pinned: process.execPath, oldest: oldest ?? process.execPath })

const json = (path: string) => JSON.parse(fs.readFileSync(path, "utf8"))

/** Files below a directory, relative to it. */
const filesBelow = (directory: string): ReadonlyArray<string> =>
  fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .toSorted()

const packageAt = (modules: string, name: string) => join(modules, "node_modules/@buzz-orchestra", name)

const LIBRARIES = ["manifest", "relay", "runtime"] as const

/** Modules of a package by their subpaths, as its sources have them; those in `internal` are nobody else's. */
const modulesOf = (directory: string) => {
  const names = filesBelow(join(directory, "src")).map((file) => file.replace(/\.ts$/, ""))
  return { open: names.filter((name) => !isInternal(name)), closed: names.filter(isInternal) }
}

const isInternal = (name: string) => /(^|\/)internal\//.test(name) || name === "index"

describe("the packed packages", () => {
  it("hold a module, declarations and maps for every source, and nothing else", (context) => {
    const { command } = need(context)
    for (const name of [...LIBRARIES, "cli"]) {
      const directory = packageAt(command, name)
      const expected = filesBelow(join(directory, "src")).flatMap((file) =>
        [".js", ".js.map", ".d.ts", ".d.ts.map"].map((suffix) => file.replace(/\.ts$/, suffix))
      )
      assert.deepStrictEqual(filesBelow(join(directory, "dist")), expected.toSorted(), name)
    }
  })

  it("hold of the reference stack the programs, and the module that finds them", (context) => {
    const directory = packageAt(need(context).embed, "reference-stack")
    const programs = ["buzz", "buzz-acp", "buzz-agent", "buzz-dev-mcp", "relay-forwarder"]
    const files = filesBelow(join(directory, "dist"))
    assert.deepStrictEqual(
      files.filter((file) => file.startsWith("programs/")),
      [...programs, "package.json"].map((name) => `programs/${name}`).toSorted()
    )
    assert.deepStrictEqual([...new Set(files.map((file) => file.split(/[./]/)[0]))].toSorted(), [
      "ReferenceStack",
      "index",
      "programs"
    ])
    for (const name of programs)
      assert.strictEqual(fs.statSync(join(directory, "dist/programs", name)).mode & 0o111, 0o111)
  })

  it("ask for versions that the registry has, for one exact Effect, and for a platform only where one is chosen", (context) => {
    const { command } = need(context)
    const effect = json(join(ROOT, "node_modules/effect/package.json")).version
    for (const name of [...LIBRARIES, "cli", "reference-stack"]) {
      const text = fs.readFileSync(join(packageAt(command, name), "package.json"), "utf8")
      assert.notMatch(text, /"(?:workspace|catalog|link|file):/, name)
      const { dependencies, exports } = JSON.parse(text)
      assert.strictEqual(dependencies.effect, effect, name)
      assert.strictEqual("@effect/platform-node" in dependencies, name === "cli", name)
      assert.notInclude(JSON.stringify(exports), "/src/", name)
    }
  })

  it("are complete for npm: nothing missing, nothing twice", async (context) => {
    const { command, embed } = need(context)
    for (const cwd of [command, embed]) {
      await output("npm", ["ls", "--all"], { cwd })
      const copies = filesBelow(join(cwd, "node_modules")).filter((file) => /(^|\/)effect\/package\.json$/.test(file))
      assert.deepStrictEqual(copies, ["effect/package.json"])
    }
  })

  it(
    "open every module but the internal ones, WebAssembly included",
    async (context) => {
      const { embed: cwd } = need(context)
      const modules = LIBRARIES.map((name) => ({ name, ...modulesOf(packageAt(cwd, name)) }))
      assert.isAbove(Math.min(...modules.flatMap(({ closed, open }) => [closed.length, open.length])), 3)
      const args = ["--input-type=module", "--eval", IMPORT_ALL, JSON.stringify(modules)]
      for (const node of Object.values(nodes()))
        assert.strictEqual(await output(node, args, { cwd }), "reachable though internal: \n64\n")
    },
    TEST_LIMIT
  )

  it(
    "declare every public module so that a strict program type-checks, and so does the example",
    async (context) => {
      const { embed } = need(context)
      const imports = LIBRARIES.flatMap((name) =>
        modulesOf(packageAt(embed, name)).open.map((module) => `@buzz-orchestra/${name}/${module}`)
      )
      fs.writeFileSync(
        join(app, "everything.ts"),
        imports.map((module, index) => `export * as m${index} from "${module}"\n`).join("")
      )
      const config = { extends: "./tsconfig.json", include: ["src", "everything.ts"], compilerOptions: STRICTEST }
      fs.writeFileSync(join(app, "tsconfig.everything.json"), JSON.stringify(config))
      const tsc = join(ROOT, "node_modules/.bin/tsc")
      assert.strictEqual(await output(tsc, ["-p", "tsconfig.everything.json"], { cwd: app }), "")
    },
    TEST_LIMIT
  )
})

/** Imports what is open, looks for what should be closed, and signs with the WebAssembly that nothing may fall back from. */
const IMPORT_ALL = `
import { Effect, Layer } from "effect"
const modules = JSON.parse(process.argv[1])
for (const { name, open } of modules) for (const module of open) await import("@buzz-orchestra/" + name + "/" + module)
const isReachable = (specifier) => { try { return import.meta.resolve(specifier) !== "" } catch { return false } }
const closed = modules.flatMap(({ name, closed }) => closed.map((module) => "@buzz-orchestra/" + name + "/" + module))
console.log("reachable though internal: " + closed.filter(isReachable).join())
const { Schnorr } = await import("@buzz-orchestra/relay/Schnorr")
const { layerStrict } = await import("@buzz-orchestra/relay/SchnorrWasm")
const sign = Schnorr.use(({ sign }) => Effect.sync(() => sign(new Uint8Array(32), new Uint8Array(32).fill(1))))
console.log((await Effect.runPromise(Effect.provide(sign, layerStrict))).length)
`

/** Declarations are checked as well; one of Effect's own names a type of the DOM. */
const STRICTEST = { skipLibCheck: false, lib: ["es2024", "esnext.disposable", "dom"] }

/** `sweep` of a summary, when every process of the stack was ended and there was no other. */
const NOBODY_LEFT = { survivors: [], spared: [] }

describe.concurrent("examples/embed", () => {
  it(`runs on Node ${OLDEST_NODE}`, async (context) => {
    need(context)
    if (oldest === undefined) return context.skip(`the registry has none for ${process.platform}-${process.arch}`)
    assert.strictEqual(await output(oldest, ["--version"], { cwd: app }), `v${OLDEST_NODE}\n`)
  })

  it(
    "runs a whole trial on a platform of its own",
    async (context) => {
      need(context)
      const out = join(temporary, "one")
      const lines = (await output(nodes().oldest, ["src/greetOne.ts", out], { cwd: app })).trimEnd().split("\n")
      assert.deepStrictEqual(
        lines.filter((line) => !line.startsWith("phase ")),
        [
          "user: @lead-1 Write a greeting for Ada into greeting.txt.",
          "lead-1: @writer-1 please write greeting.txt for Ada.",
          "writer-1: @lead-1 greeting.txt is written.",
          "lead-1: DONE: greeting.txt is written.",
          "done: lead-1 posted DONE:",
          "done: Hello, Ada!"
        ]
      )
      assert.includeMembers(lines, ["phase provision", "phase sweep", "phase collect"])
      const summary = json(join(out, "Ada/agent/buzz/summary.json"))
      assert.deepInclude(summary, { outcome: "done", error: null, warnings: [] })
      assert.deepStrictEqual(summary.sweep, NOBODY_LEFT)
    },
    TEST_LIMIT
  )

  it(
    "tests its own code on the test layers",
    async (context) => {
      need(context)
      for (const node of Object.values(nodes())) {
        const printed = await output(node, ["--test-reporter=tap", "src/Greeting.test.ts"], { cwd: app })
        assert.match(printed, /^# pass 3$/m)
        assert.match(printed, /^# fail 0$/m)
      }
    },
    TEST_LIMIT
  )

  it(
    "runs two trials at once that know nothing of each other",
    async (context) => {
      need(context)
      const out = join(temporary, "two")
      const printed = await output(nodes().pinned, ["src/greetTwo.ts", out], { cwd: app })
      assert.sameMembers(printed.trimEnd().split("\n"), ["Ada: done: Hello, Ada!", "Grace: done: Hello, Grace!"])
      const [ada, grace] = ["Ada", "Grace"].map((person) => {
        const { message_count, messages } = json(join(out, person, "agent/buzz/transcript.json"))
        assert.strictEqual(message_count, 4)
        const greeting = fs.readFileSync(join(out, `${person}-sandbox/work/greeting.txt`), "utf8")
        assert.strictEqual(greeting, `Hello, ${person}!\n`)
        const other = person === "Ada" ? "Grace" : "Ada"
        for (const file of filesBelow(join(out, person)))
          assert.notInclude(fs.readFileSync(join(out, person, file), "utf8"), other, file)
        assert.deepStrictEqual(
          messages.map(({ author }: { author: string }) => author),
          ["user", "lead-1", "writer-1", "lead-1"]
        )
        return json(join(out, person, "agent/buzz/summary.json"))
      })
      assert.notStrictEqual(ada.channel_id, grace.channel_id)
      assert.isTrue(ada.started_at < grace.ended_at && grace.started_at < ada.ended_at, "one ran after the other")
      for (const { sweep, warnings } of [ada, grace])
        assert.deepStrictEqual({ sweep, warnings }, { sweep: NOBODY_LEFT, warnings: [] })
    },
    TEST_LIMIT
  )

  it(
    "ends its trial in order when it is interrupted",
    async (context) => {
      need(context)
      const out = join(temporary, "interrupted")
      let interrupted = false
      const { code, stderr } = await run(nodes().pinned, ["src/greetOne.ts", out], {
        cwd: app,
        onStdout: (printed, kill) => {
          if (interrupted || !printed.includes("phase observe")) return
          interrupted = true
          kill("SIGINT")
        }
      })
      assert.strictEqual(code, 130, stderr)
      const summary = json(join(out, "Ada/agent/buzz/summary.json"))
      assert.deepInclude(summary, { outcome: "interrupted", error: null })
      assert.deepStrictEqual(summary.sweep, NOBODY_LEFT)
    },
    TEST_LIMIT
  )

  it(
    "catches the one reason it knows what to do about",
    async (context) => {
      need(context)
      const out = join(temporary, "no-stack")
      const { code, stderr } = await run(nodes().pinned, ["src/greetOne.ts", out, "/nowhere"], { cwd: app })
      assert.strictEqual(code, 0, stderr)
      assert.match(stderr, /: give a directory with the Buzz programs$/m)
    },
    TEST_LIMIT
  )
})

/** The command as a stranger has it: the system's programs, one Node, and nothing of this checkout. */
const start = (args: ReadonlyArray<string>, context: TestContext) => {
  const bin = join(need(context).command, "node_modules/.bin/buzz-orchestra")
  const directory = fs.mkdtempSync(join(temporary, "command-"))
  fs.symlinkSync(nodes().oldest, join(directory, "node"))
  const env = { PATH: `${directory}:/usr/bin:/bin`, HOME: directory, NO_COLOR: "1" }
  return { directory, printed: output(bin, args, { cwd: directory, env }) }
}

describe.concurrent("the command, installed by npm", () => {
  it(
    "says its version and how it is used",
    async (context) => {
      const { version } = json(join(ROOT, "packages/cli/package.json"))
      assert.strictEqual(await start(["--version"], context).printed, `buzz-orchestra v${version}\n`)
      assert.match(await start(["--help"], context).printed, /USAGE\n {2}buzz-orchestra <subcommand>/)
    },
    TEST_LIMIT
  )

  it(
    "brings the example team, and identifies it",
    async (context) => {
      const example = join(packageAt(need(context).command, "cli"), "examples/hello-team")
      const ours = join(ROOT, "examples/hello-team")
      assert.deepStrictEqual(filesBelow(example), filesBelow(ours))
      const hash = await start(["manifest", "hash", join(example, "manifest.yaml")], context).printed
      assert.match(hash, /^[0-9a-f]{64}\n$/)
    },
    TEST_LIMIT
  )

  it(
    "runs the demo",
    async (context) => {
      const { directory, printed } = start(["demo", "--out", "bundle"], context)
      assert.match(await printed, /^done: lead-1 posted DONE:$/m)
      assert.deepInclude(json(join(directory, "bundle/agent/buzz/summary.json")), { outcome: "done", error: null })
    },
    TEST_LIMIT
  )
})
