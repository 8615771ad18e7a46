// @module-tag thorough
import * as ReferenceStack from "@buzz-orchestra/reference-stack/ReferenceStack"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import * as Programs from "./programs.ts"

layer(Programs.layer, { excludeTestServices: true })("the built programs", (it) => {
  it.effect("are files that everybody may run, and what tells Node how to read them", () =>
    Effect.gen(function* () {
      const fileSystem = yield* FileSystem.FileSystem
      const directory = yield* ReferenceStack.directory
      assert.deepStrictEqual(
        (yield* fileSystem.readDirectory(directory)).toSorted(),
        ["package.json", ...ReferenceStack.PROGRAMS].toSorted()
      )
      for (const program of ReferenceStack.PROGRAMS) {
        const { mode } = yield* fileSystem.stat(`${directory}/${program}`)
        assert.strictEqual(mode & 0o777, 0o755, program)
      }
    })
  )

  it.effect(
    "run alone beside a Node, without one on PATH and without anything else of this project",
    () =>
      Effect.gen(function* () {
        const fileSystem = yield* FileSystem.FileSystem
        const bin = yield* fileSystem.makeTempDirectoryScoped({ prefix: "stack-alone-" })
        yield* fileSystem.symlink(process.execPath, `${bin}/node`)
        for (const program of ReferenceStack.PROGRAMS) {
          yield* fileSystem.copyFile(yield* Programs.programPath(program), `${bin}/${program}`)
          yield* fileSystem.chmod(`${bin}/${program}`, 0o755)
        }
        yield* fileSystem.writeFileString(`${bin}/agent`, Programs.LEAST_AGENT, { mode: 0o755 })
        // A secured relay, for which parts are loaded that an unsecured one does not need.
        const relay = { BUZZ_PRIVATE_KEY: "1".repeat(64), BUZZ_RELAY_URL: "wss://127.0.0.1:9" }
        for (const [program, env, code, text] of [
          ["buzz", relay, 2, "connect ECONNREFUSED"],
          [
            "buzz-acp",
            { ...relay, BUZZ_ACP_AGENT_COMMAND: `${bin}/agent` },
            1,
            "relay connect error: connect ECONNREFUSED"
          ],
          ["buzz-agent", {}, 2, "BUZZ_AGENT_PROVIDER is required"],
          ["relay-forwarder", {}, 2, "usage: relay-forwarder"]
        ] as const) {
          const args = program === "buzz" ? ["users", "get"] : []
          const running = yield* Programs.start(`${bin}/${program}`, args, { env: { PATH: "/none", ...env }, cwd: "/" })
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
