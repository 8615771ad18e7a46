/** `doctor` where nothing can be started, and what is looked at on any machine. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, FileSystem, Layer, PlatformError } from "effect"
import { Command } from "effect/cli"
import { ChildProcessSpawner } from "effect/process"
import { CommandError } from "../../src/CommandError.ts"
import { doctor } from "../../src/commands/Doctor.ts"
import { freeSpace } from "../../src/internal/freeSpace.ts"
import * as TestOutput from "../TestOutput.ts"

/** A machine on which no program can be started. */
const noPrograms = Layer.succeed(
  ChildProcessSpawner.ChildProcessSpawner,
  ChildProcessSpawner.make(() =>
    Effect.fail(PlatformError.systemError({ _tag: "NotFound", module: "ChildProcess", method: "spawn" }))
  )
)

const machine = Layer.mergeAll(
  Layer.provideMerge(noPrograms, NodeServices.layer),
  TestOutput.layer(false),
  ConfigProvider.layer(ConfigProvider.fromUnknown({ DOCKER_HOST: "unix:///nowhere/docker.sock" }))
)

describe("doctor", () => {
  it.live("where neither a sandbox nor an engine can be had says so of each, and fails", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Command.runWith(doctor, { version: "9.9.9" })([]))
      assert.instanceOf(error, CommandError)
      assert.strictEqual(error.reason._tag, "NoEnvironmentWorks")
      const text = yield* TestOutput.Written.use(({ stdout }) => stdout)
      assert.match(text, /^node {6}ok {6}\d+\.\d+\.\d+$/m)
      assert.match(text, /^sandbox {3}missing /m)
      assert.match(
        text,
        /^engine {4}missing no container can be had: no container engine answers at unix:\/\/\/nowhere\/docker\.sock/m
      )
      assert.match(text, /^stack {5}missing the reference stack is not available/m)
    }).pipe(Effect.provide(machine))
  )

  it.live("--json has one line for each finding, and last how the command exits", () =>
    Effect.gen(function* () {
      yield* Effect.flip(Command.runWith(doctor, { version: "9.9.9" })(["--json"]))
      const text = yield* TestOutput.Written.use(({ stdout }) => stdout)
      const lines = text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>)
      assert.deepInclude(lines[0], { event: "Checked", topic: "node", status: "ok", next: null })
      assert.deepInclude(
        lines.find(({ topic }) => topic === "engine"),
        { event: "Checked", status: "missing" }
      )
      assert.deepInclude(lines.at(-1), { event: "Exited", exitCode: 15 })
    }).pipe(Effect.provide(machine))
  )
})

describe("room on a disk", () => {
  it.live("is looked for in the nearest directory that exists", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const at = yield* fs.makeTempDirectoryScoped()
      const found = yield* freeSpace(`${at}/not/yet`)
      assert.strictEqual(found.at, at)
      assert.isAbove(found.bytes ?? 0, 0)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
