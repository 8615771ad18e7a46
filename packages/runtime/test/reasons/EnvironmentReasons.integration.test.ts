/** What an environment says of real processes that cannot be had: the reasons at its border, one by one. */
import { NodeServices } from "@effect/platform-node"
import { EnvironmentError } from "@buzz-orchestra/runtime/EnvironmentError"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import * as LocalEnvironment from "@buzz-orchestra/runtime/LocalEnvironment"
import type { OpenProcess } from "@buzz-orchestra/runtime/ByteDuplex"
import { openWatch } from "@buzz-orchestra/runtime/Watch"
import { recordingFacts } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, FileSystem, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { spawnDuplex } from "../../src/internal/childDuplex.ts"
import { environmentOver } from "../../src/internal/environmentOver.ts"
import { openHere, refusal, SHELLS, type TestedShell } from "../support/shells.ts"

const environmentOf = Effect.fnUntraced(function* (shell: TestedShell) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const place = { name: "this machine", open: openHere(spawner, shell), lost: Effect.never }
  return yield* environmentOver(place, (run) =>
    Effect.map(run("uname -m"), (architecture) => recordingFacts({ architecture, workDirectory: "/" }))
  )
})

const [sh] = SHELLS.filter(({ isInstalled }) => isInstalled)
if (sh === undefined) throw new Error("no shell on this machine")

describe("an environment", () => {
  it.live("that has no shell says so when it is opened", () =>
    Effect.gen(function* () {
      const without: TestedShell = {
        name: "none",
        argv: ["/nonexistent/sh"],
        isInstalled: false,
        options: { tags: [] }
      }
      const { reason } = yield* Effect.flip(environmentOf(without))
      assert.strictEqual(reason._tag, "ShellMissing")
      assert.match(reason.message, /^no shell in this machine: .*No such file.*use an image that has one$/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("names a command that cannot be run at all, which is not one that exits with a code", () =>
    Effect.gen(function* () {
      const { exec } = yield* environmentOf(sh)
      assert.strictEqual((yield* exec("exit 7")).exitCode, 7)
      const { reason } = yield* Effect.flip(exec("true", { cwd: "/nonexistent" }))
      assert.strictEqual(reason._tag, "CommandNotRun")
      assert.match(reason.message, /\/nonexistent/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("names the file that does not get in, and the one that does not get out", () =>
    Effect.gen(function* () {
      const { download, upload } = yield* environmentOf(sh)
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const content = new TextEncoder().encode("x")
      // A file where a folder is needed.
      yield* upload({ content }, `${folder}/file`)
      const { reason: inwards } = yield* Effect.flip(upload({ content }, `${folder}/file/below`))
      assert.deepInclude(inwards, { _tag: "TransferFailed", direction: "upload", path: `${folder}/file/below` })
      const { reason: outwards } = yield* Effect.flip(download(`${folder}/absent`, `${folder}/copy`))
      assert.deepInclude(outwards, { _tag: "TransferFailed", direction: "download", path: `${folder}/absent` })
      assert.match(outwards.message, /no such file/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

describe("a watch", () => {
  it.live("whose process is killed says that the environment is lost, after everything it had to tell", () =>
    Effect.gen(function* () {
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFileString(`${folder}/lead-1.stdout.log`, "hello\n")
      const pids: Array<number> = []
      const open: OpenProcess = ([program, ...args]) =>
        Effect.tap(
          spawnDuplex(spawner, ChildProcess.make(program, args, { extendEnv: true }), ({ message }) =>
            refusal(message)
          ),
          ({ pid }) => Effect.sync(() => pids.push(pid))
        )
      const events = yield* openWatch({ environment: "this machine", open, lost: Effect.never }, folder)
      let said = ""
      const error = yield* Stream.runForEach(events, (event) =>
        Effect.sync(() => {
          if (event._tag !== "LogBytes") return
          said += new TextDecoder().decode(event.bytes)
          for (const pid of pids) process.kill(pid, "SIGKILL")
        })
      ).pipe(Effect.timeout("10 seconds"), Effect.flip)
      assert.strictEqual(said, "hello\n")
      assert.strictEqual(error._tag, "EnvironmentError")
      assert.strictEqual(error._tag === "EnvironmentError" ? error.reason._tag : "", "EnvironmentLost")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

describe("a local sandbox", () => {
  it.live("that cannot be made says what it lacks", () =>
    Effect.gen(function* () {
      const mounts = [{ source: "/nonexistent/data", target: "/data", readOnly: true }]
      const exit = yield* Effect.exit(Effect.provide(EnvironmentService, LocalEnvironment.layer({ mounts })))
      assert.isTrue(Exit.isFailure(exit))
      const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      assert.instanceOf(error, EnvironmentError)
      assert.strictEqual(error.reason._tag, "EnvironmentNotCreated")
      assert.match(error.message, /cannot mount \/nonexistent\/data/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
