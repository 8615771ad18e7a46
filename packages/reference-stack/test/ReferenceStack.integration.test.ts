import * as ReferenceStack from "@buzz-orchestra/reference-stack/ReferenceStack"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import * as Programs from "./programs.ts"

const build = (cache: string) =>
  Effect.flatMap(ChildProcessSpawner.ChildProcessSpawner, (spawner) =>
    spawner.string(
      ChildProcess.make(process.execPath, [ReferenceStack.buildScript], {
        env: { REFERENCE_STACK_CACHE: cache },
        extendEnv: true,
        stdin: "ignore"
      })
    )
  )

layer(Programs.layer, { excludeTestServices: true })("the built programs", (it) => {
  it.effect(
    "are built once, however many ask for them at the same time",
    () =>
      Effect.gen(function* () {
        const fileSystem = yield* FileSystem.FileSystem
        const cache = yield* fileSystem.makeTempDirectoryScoped({ prefix: "stack-cache-" })
        const printed = yield* Effect.all([build(cache), build(cache)], { concurrency: "unbounded" })
        const [directory = ""] = printed.map((line) => line.trimEnd())
        assert.deepStrictEqual(printed, [`${directory}\n`, `${directory}\n`])
        // No half build and nothing temporary is left.
        assert.deepStrictEqual(yield* fileSystem.readDirectory(cache), [directory.slice(cache.length + 1)])
        assert.deepStrictEqual(
          (yield* fileSystem.readDirectory(directory)).toSorted(),
          ["package.json", ...ReferenceStack.PROGRAMS].toSorted()
        )
        for (const program of ReferenceStack.PROGRAMS) {
          const { mode } = yield* fileSystem.stat(`${directory}/${program}`)
          assert.strictEqual(mode & 0o777, 0o755, program)
        }
      }),
    Programs.SLOW
  )

  it.effect(
    "run alone beside a Node, without one on PATH and without anything else of this project",
    () =>
      Effect.gen(function* () {
        const fileSystem = yield* FileSystem.FileSystem
        const bin = yield* fileSystem.makeTempDirectoryScoped({ prefix: "stack-alone-" })
        yield* fileSystem.copyFile(process.execPath, `${bin}/node`)
        yield* fileSystem.chmod(`${bin}/node`, 0o755)
        for (const program of ReferenceStack.PROGRAMS) {
          yield* fileSystem.copyFile(yield* Programs.programPath(program), `${bin}/${program}`)
          yield* fileSystem.chmod(`${bin}/${program}`, 0o755)
        }
        for (const [program, code, text] of [
          ["buzz", 3, "BUZZ_PRIVATE_KEY is required"],
          ["buzz-acp", 2, "--private-key"],
          ["buzz-agent", 2, "BUZZ_AGENT_PROVIDER is required"],
          ["relay-forwarder", 2, "usage: relay-forwarder"]
        ] as const) {
          const args = program === "buzz" ? ["users", "get"] : []
          const running = yield* Programs.start(`${bin}/${program}`, args, { env: { PATH: "/none" }, cwd: "/" })
          assert.strictEqual(yield* Effect.timeout(running.exitCode, "10 seconds"), code, program)
          yield* running.awaitOutput(text)
        }
        const server = yield* Programs.start(`${bin}/buzz-dev-mcp`, ["--as-buzz", "--version"], {
          env: { PATH: "/none" },
          cwd: "/"
        })
        yield* server.awaitOutput("buzz 0.1.0")
      }),
    Programs.SLOW
  )

  it.effect(
    "fall back to the Node on PATH, under any name and through a symbolic link",
    () =>
      Effect.gen(function* () {
        const fileSystem = yield* FileSystem.FileSystem
        const bin = yield* fileSystem.makeTempDirectoryScoped({ prefix: "stack-link-" })
        yield* fileSystem.symlink(yield* Programs.programPath("relay-forwarder"), `${bin}/forward`)
        const running = yield* Programs.start("sh", ["-c", "forward"], {
          env: { PATH: `${bin}:${process.env["PATH"] ?? ""}` }
        })
        assert.strictEqual(yield* Effect.timeout(running.exitCode, "10 seconds"), 2)
        yield* running.awaitOutput("usage:")
      }),
    Programs.SLOW
  )
})
