/** The shell that starts, ends and tells of programs, in every shell that an image may bring. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { parseExit, exitScript } from "../src/internal/exitScript.ts"
import { launchScript, parseStarted } from "../src/internal/launchScript.ts"
import { stopScript } from "../src/internal/stopScript.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Schedule } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { SHELLS } from "./support/shells.ts"

const run = (argv: ReadonlyArray<string>, script: string, env: Record<string, string> = {}) =>
  ChildProcessSpawner.ChildProcessSpawner.use((spawner) =>
    spawner.string(ChildProcess.make(argv[0] ?? "sh", [...argv.slice(1), "-c", script], { env, extendEnv: true }))
  ).pipe(Effect.timeout("10 seconds"))

/** A program in a directory whose name needs quoting. */
const programOf = Effect.fnUntraced(function* (body: string) {
  const fs = yield* FileSystem.FileSystem
  const root = yield* fs.makeTempDirectoryScoped({ prefix: "it's a stack " })
  yield* fs.writeFileString(`${root}/program`, `#!/bin/sh\n${body}\n`, { mode: 0o755 })
  return { root, launch: { name: "lead-1", program: `${root}/program`, args: ["a b", "$HOME"], logs: root } }
})

const eventually = <A, E, R>(read: Effect.Effect<A, E, R>, holds: (value: A) => boolean) =>
  read.pipe(Effect.repeat({ schedule: Schedule.spaced("20 millis"), until: holds }), Effect.timeout("5 seconds"))

const isGone = (pid: number) =>
  Effect.map(
    FileSystem.FileSystem.use((fs) => fs.readFileString(`/proc/${pid}/stat`)).pipe(Effect.orElseSucceed(() => "")),
    (stat) => stat === "" || /\) Z /.test(stat)
  )

for (const { argv, isInstalled, name, options } of SHELLS) {
  describe.skipIf(!isInstalled)(`launchScript in ${name}`, options, () => {
    it.live("returns at once with the program's own pid, and leaves its exit code", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { launch, root } = yield* programOf('echo "$$ $1 $2 $SECRET"; echo oops >&2; sleep 0.3; exit 7')
        const started = parseStarted(yield* run(argv, launchScript(launch), { SECRET: "from the environment" }))
        if (started === undefined) return assert.fail("no pid was printed")
        assert.match(started.startTime ?? "", /^\d+$/)
        assert.strictEqual((yield* fs.readFileString(`${root}/lead-1.pid`)).trim(), `${started.pid}`)
        const told = yield* eventually(
          Effect.map(run(argv, exitScript(root, "lead-1")), parseExit),
          ({ status }) => status.exitCode !== undefined
        )
        assert.strictEqual(told.status.exitCode, 7)
        const stdout = `${started.pid} a b $HOME from the environment\n`
        assert.strictEqual(yield* fs.readFileString(`${root}/lead-1.stdout.log`), stdout)
        assert.strictEqual(yield* fs.readFileString(`${root}/lead-1.stderr.log`), "oops\n")
        assert.deepStrictEqual(
          [...told.sizes],
          [
            ["lead-1.stdout.log", stdout.length],
            ["lead-1.stderr.log", 5]
          ]
        )
      }).pipe(Effect.provide(NodeServices.layer))
    )

    it.live("gives the program a session of its own", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { launch, root } = yield* programOf("sleep 5")
        const started = parseStarted(yield* run(argv, launchScript(launch)))
        if (started === undefined) return assert.fail("no pid was printed")
        // The pid is known before the process it belongs to has become the program.
        yield* eventually(
          Effect.map(fs.readFileString(`/proc/${started.pid}/stat`), (stat) =>
            stat.slice(stat.lastIndexOf(")") + 2).split(" ")
          ),
          ([, , group, session]) => group === `${started.pid}` && session === group
        )
        yield* run(argv, stopScript({ pid: started.pid, startTime: started.startTime ?? "", graceMillis: 1000 }))
        assert.isTrue(yield* isGone(started.pid))
        // What its parent still writes would be written into a directory that is being removed.
        assert.strictEqual(parseExit(yield* run(argv, exitScript(root, "lead-1"))).status.signal, "SIGTERM")
      }).pipe(Effect.provide(NodeServices.layer))
    )

    it.live("ends a program that ignores TERM, and says by which signal", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { launch, root } = yield* programOf('trap "" TERM; echo ready; while :; do sleep 0.05; done')
        const started = parseStarted(yield* run(argv, launchScript(launch)))
        if (started === undefined) return assert.fail("no pid was printed")
        yield* eventually(fs.readFileString(`${root}/lead-1.stdout.log`), (text) => text === "ready\n")
        yield* run(argv, stopScript({ pid: started.pid, startTime: started.startTime ?? "", graceMillis: 200 }))
        const { status } = parseExit(yield* run(argv, exitScript(root, "lead-1")))
        assert.strictEqual(status.signal, "SIGKILL")
      }).pipe(Effect.provide(NodeServices.layer))
    )

    it.live("never ends a process that has another start time", () =>
      Effect.gen(function* () {
        const { launch, root } = yield* programOf("sleep 5")
        const started = parseStarted(yield* run(argv, launchScript(launch)))
        if (started === undefined) return assert.fail("no pid was printed")
        yield* run(argv, stopScript({ pid: started.pid, startTime: "1", graceMillis: 200 }))
        assert.isFalse(yield* isGone(started.pid))
        yield* run(argv, stopScript({ pid: started.pid, startTime: started.startTime ?? "", graceMillis: 1000 }))
        assert.strictEqual(parseExit(yield* run(argv, exitScript(root, "lead-1"))).status.signal, "SIGTERM")
      }).pipe(Effect.provide(NodeServices.layer))
    )

    it.live("leaves 126 or 127 for a program that cannot be executed", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { launch, root } = yield* programOf("true")
        yield* fs.chmod(launch.program, 0o644)
        const started = parseStarted(yield* run(argv, launchScript(launch)))
        assert.isDefined(started)
        const { status } = parseExit(yield* run(argv, exitScript(root, "lead-1")))
        assert.include([126, 127], status.exitCode)
        assert.match(yield* fs.readFileString(`${root}/lead-1.stderr.log`), /denied/i)
      }).pipe(Effect.provide(NodeServices.layer))
    )
  })
}
