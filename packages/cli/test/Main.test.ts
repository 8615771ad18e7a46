import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Cause, ConfigProvider, Effect, Exit, FileSystem, Layer, Path } from "effect"
import { TestConsole } from "effect/testing"
import { createHash } from "node:crypto"
import { command, services } from "../src/Main.ts"
import { ExitWith, Stopping, StoppingRef } from "../src/Stopping.ts"
import * as TestOutput from "./TestOutput.ts"

const layersWith = (variables: Readonly<Record<string, string>>) =>
  Layer.mergeAll(
    services,
    NodeServices.layer,
    TestOutput.layer(false),
    Layer.succeed(StoppingRef, new Stopping()),
    ConfigProvider.layer(ConfigProvider.fromUnknown(variables))
  )

const layers = layersWith({})

/** Runs the command line; what it printed and its exit code. */
const invoke = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const exit = yield* Effect.exit(command("9.9.9", args))
  return {
    code: codeOf(exit),
    stdout: (yield* TestConsole.logLines).join("\n"),
    stderr: (yield* TestConsole.errorLines).join("\n")
  }
})

const codeOf = (exit: Exit.Exit<unknown, ExitWith>): number => {
  if (Exit.isSuccess(exit)) return 0
  const error = Cause.squash(exit.cause)
  assert.instanceOf(error, ExitWith, Cause.pretty(exit.cause))
  return error.code
}

const example = Effect.flatMap(Path.Path, (path) =>
  Effect.orDie(path.fromFileUrl(new URL("../../../examples/hello-team/", import.meta.url)))
)

/** A directory of files that goes with the test. */
const directoryOf = Effect.fnUntraced(function* (files: Readonly<Record<string, string>>) {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped()
  yield* Effect.forEach(Object.entries(files), ([name, text]) => fs.writeFileString(`${directory}/${name}`, text))
  return directory
})

describe("help and usage", () => {
  it.effect("--help lists the commands with examples", () =>
    Effect.gen(function* () {
      const { code, stdout } = yield* invoke("--help")
      assert.strictEqual(code, 0)
      for (const word of ["run", "demo", "doctor", "manifest", "relay", "EXAMPLES", "buzz-orchestra demo"])
        assert.include(stdout, word)
    }).pipe(Effect.provide(layers))
  )
  it.effect("run --help explains every flag and shows how to use them", () =>
    Effect.gen(function* () {
      const { stdout } = yield* invoke("run", "--help")
      const flags = [
        "--instruction",
        "--instruction-file",
        "--endpoints",
        "--environment",
        "--image",
        "--dockerfile",
        "--container",
        "--memory",
        "--cpus",
        "--storage",
        "--pids",
        "--user",
        "--network",
        "--stack",
        "--relay",
        "--user-relay",
        "--relay-gateway",
        "--artifact-root",
        "--out",
        "--upload",
        "--owner-key-env",
        "--user-key-env",
        "--readiness-timeout",
        "--agent-users",
        "--sweep",
        "--json"
      ]
      for (const flag of flags) assert.include(stdout, flag)
      assert.include(stdout, "buzz-orchestra run team.yaml --endpoints endpoints.json")
    }).pipe(Effect.provide(layers))
  )
  it.effect("--version prints the version", () =>
    Effect.gen(function* () {
      assert.include((yield* invoke("--version")).stdout, "9.9.9")
    }).pipe(Effect.provide(layers))
  )
  it.effect("a flag that does not exist is a usage error with a suggestion, and no page of help", () =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* invoke("manifest", "hash", "x.yaml", "--dialekt", "study")
      assert.strictEqual(code, 64)
      assert.strictEqual(stdout, "")
      assert.include(stderr, "--dialekt")
      assert.include(stderr, "help:  buzz-orchestra manifest hash --help")
    }).pipe(Effect.provide(layers))
  )
  it.effect("a flag for containers without a container is a usage error that names it", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* invoke("demo", "--memory", "512")
      assert.strictEqual(code, 64)
      assert.strictEqual(
        stderr,
        "error: --memory means nothing in a local sandbox\nnext: add --environment docker, or leave --memory out"
      )
      const negative = yield* invoke("demo", "--environment", "docker", "--cpus", "0")
      assert.strictEqual(negative.code, 64)
      assert.include(negative.stderr, "Expected a number of cores above 0, got 0")
    }).pipe(Effect.provide(layers))
  )
  it.effect("run without a task is a usage error before anything is read", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* invoke(
        "run",
        "no-such.yaml",
        "--endpoints",
        "no-such.json",
        "--stack",
        "reference"
      )
      assert.strictEqual(code, 64)
      assert.strictEqual(
        stderr,
        "error: no instruction is given\nnext: give one: --instruction TEXT, or --instruction-file FILE"
      )
    }).pipe(Effect.provide(layers))
  )
})

describe("manifest", () => {
  it.effect("hash prints the 64 hex digits of the canonical bytes and nothing else", () =>
    Effect.gen(function* () {
      const file = `${yield* example}manifest.yaml`
      const { code, stderr, stdout } = yield* invoke("manifest", "hash", file)
      yield* invoke("manifest", "show", file, "--canonical")
      const written = yield* TestOutput.Written
      assert.strictEqual(code, 0)
      assert.strictEqual(stderr, "")
      assert.strictEqual(
        stdout,
        createHash("sha256")
          .update(yield* written.stdout)
          .digest("hex")
      )
    }).pipe(Effect.provide(layers))
  )
  it.effect("a refusal goes to stderr with place, field, what and what to do, and every problem at once", () =>
    Effect.gen(function* () {
      const directory = yield* directoryOf({ "team.yaml": 'condition: ""\nroster: []\ncolour: red\n' })
      const { code, stderr, stdout } = yield* invoke("manifest", "hash", `${directory}/team.yaml`)
      assert.isAtLeast(code, 84)
      assert.strictEqual(stdout, "")
      assert.match(stderr, /^error: \/.*\/team\.yaml:\d+:\d+: \w+: /)
      assert.match(stderr, /team\.yaml:1:\d+: condition: /)
      assert.match(stderr, /team\.yaml:3:\d+: colour: unknown field/)
      assert.include(stderr, "next: correct the file")
    }).pipe(Effect.scoped, Effect.provide(layers))
  )
  it.effect("a file that is not there is an error of its own", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* invoke("manifest", "check", "/no/such/team.yaml")
      assert.strictEqual(code, 84)
      assert.match(stderr, /^error: \/no\/such\/team\.yaml: .*\nnext: give the path of a manifest/)
    }).pipe(Effect.provide(layers))
  )
  it.effect("check verifies the pinned files when it is told where they are", () =>
    Effect.gen(function* () {
      const directory = yield* example
      const good = yield* invoke("manifest", "check", `${directory}manifest.yaml`, "--artifact-root", directory)
      assert.strictEqual(good.code, 0, good.stderr)
      assert.match(good.stdout, /manifest\.yaml: ok \(M1-hello-world, trunk, [0-9a-f]{64}\)$/)
      const bad = yield* invoke("manifest", "check", `${directory}manifest.yaml`, "--artifact-root", `${directory}..`)
      assert.strictEqual(bad.code, 111)
    }).pipe(Effect.provide(layers))
  )
  it.effect("check warns in trunk about what only the study dialect refuses", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const text = yield* fs.readFileString(`${yield* example}manifest.yaml`)
      const directory = yield* directoryOf({
        "team.yaml": text.replace("max_output_tokens: 4096", "max_output_tokens: 300000")
      })
      const { code, stderr } = yield* invoke("manifest", "check", `${directory}/team.yaml`)
      assert.strictEqual(code, 0)
      assert.match(stderr, /^warning: .*team\.yaml:\d+:\d+: roster\[0\]\.generation.*must be less than/)
    }).pipe(Effect.scoped, Effect.provide(layers))
  )
  it.effect("show prints team, prices and budget", () =>
    Effect.gen(function* () {
      const { stdout } = yield* invoke("manifest", "show", `${yield* example}manifest.yaml`)
      const lines = stdout.split("\n")
      assert.strictEqual(lines[0], "condition  M1-hello-world")
      assert.include(lines, "lead-1         orchestrator  lead         scripted/hello-team  prompts/lead.md")
      assert.include(lines, "budget     120 s")
    }).pipe(Effect.provide(layers))
  )
})

describe("demo", () => {
  it.effect("says first what there is to see, unless a program reads it", () =>
    Effect.gen(function* () {
      const full = yield* directoryOf({ "summary.json": "{}" })
      const written = yield* TestOutput.Written
      assert.strictEqual((yield* invoke("demo", "--out", full, "--json")).code, 6)
      assert.notInclude(yield* written.stdout, "A team of three")
      assert.strictEqual((yield* invoke("demo", "--out", full)).code, 6)
      assert.include(yield* written.stdout, "A team of three solves a small task on this machine")
      assert.include(yield* written.stdout, "The team and its playbook: ")
    }).pipe(Effect.scoped, Effect.provide(layers))
  )
})

describe("run, before anything starts", () => {
  const arguments_ = Effect.map(example, (directory) => [
    "run",
    `${directory}manifest.yaml`,
    "--endpoints",
    `${directory}endpoints.json`,
    "--stack",
    "reference",
    "--instruction",
    "do it"
  ])
  it.effect("a missing API key names the variable and the endpoint", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* invoke(...(yield* arguments_))
      assert.strictEqual(code, 3)
      assert.include(
        stderr,
        "no API key for the endpoint scripted/hello-team: the variable SCRIPTED_API_KEY is not set"
      )
      assert.include(stderr, "next: set SCRIPTED_API_KEY")
    }).pipe(Effect.provide(layers))
  )
  it.effect("with --json the error is also the last event", () =>
    Effect.gen(function* () {
      const { code } = yield* invoke(...(yield* arguments_), "--json")
      const written = yield* TestOutput.Written
      const event = JSON.parse(yield* written.stdout) as Record<string, unknown>
      assert.strictEqual(code, 3)
      assert.deepInclude(event, { event: "Exited", exitCode: 3, outcome: null, directory: null })
    }).pipe(Effect.provide(layers))
  )
  it.effect("keys, uploads and directories are checked, each with its own error", () =>
    Effect.gen(function* () {
      const run = yield* arguments_
      const full = yield* directoryOf({ "summary.json": "{}" })
      const codes = yield* Effect.forEach(
        [
          ["--owner-key-env", "NO_SUCH_KEY"],
          ["--user-key-env", "BAD_KEY"],
          ["--upload", "/no/such/file:/app/file"],
          ["--upload", "no-target"],
          ["--out", full],
          ["--user-relay", "http://localhost:3600"]
        ],
        (flags) =>
          Effect.map(invoke(...run, ...flags), ({ code, stderr }) => [flags[0], code, stderr.includes("not-a-key")])
      )
      assert.deepStrictEqual(codes, [
        ["--owner-key-env", 4, false],
        ["--user-key-env", 5, false],
        ["--upload", 7, false],
        ["--upload", 64, false],
        ["--out", 6, false],
        ["--user-relay", 64, false]
      ])
      const elsewhere = run.map((argument) => (argument === "reference" ? "/no/such/stack" : argument))
      assert.strictEqual((yield* invoke(...elsewhere)).code, 8)
    }).pipe(Effect.scoped, Effect.provide(layersWith({ SCRIPTED_API_KEY: "scripted-key", BAD_KEY: "not-a-key" })))
  )
})
