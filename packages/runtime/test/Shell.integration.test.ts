// @module-tag thorough
/** The persistent shell over each shell that an image may bring. What holds in a whole environment is in `suites/`. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import type { OpenProcess } from "@buzz-orchestra/runtime/ByteDuplex"
import { makeShell, MAX_SHELLS, type ShellCommand } from "@buzz-orchestra/runtime/Shell"
import { Deferred, Duration, Effect, Fiber, FileSystem, Redacted, Stream } from "effect"
import { ChildProcessSpawner } from "effect/process"
import { TestClock } from "effect/testing"
import { ALL_BYTES, decode, encode, join } from "./support/bytes.ts"
import { eventually, openHere, refusal, SHELLS, type TestedShell } from "./support/shells.ts"

/** A shell, how many were opened for it, and a scratch folder. */
const withShell = Effect.fnUntraced(function* (
  tested: TestedShell,
  wrap: (open: OpenProcess, opened: number) => ReturnType<OpenProcess> = (open) => open(["sh"])
) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const folder = yield* FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped())
  const here = openHere(spawner, tested)
  let opened = 0
  const shell = yield* makeShell({
    environment: "this machine",
    open: () => Effect.suspend(() => wrap(here, ++opened)),
    lost: Effect.never
  })
  const run = (command: string, more?: Partial<ShellCommand>) =>
    Effect.map(
      shell.run({ command, cwd: folder, timeLimit: Duration.seconds(20), maxOutputBytes: 1 << 20, ...more }),
      (output) => ({ ...output, out: decode(output.stdout), err: decode(output.stderr) })
    )
  return { run, folder, opened: () => opened }
})

const isAlive = (pid: string) =>
  FileSystem.FileSystem.use((fs) => fs.readFileString(`/proc/${pid.trim()}/stat`)).pipe(
    Effect.map((stat) => !/\) [ZX] /.test(stat)),
    Effect.orElseSucceed(() => false)
  )

const gone = (pid: string) => eventually(isAlive(pid), (alive) => !alive)

const readFile = (path: string) =>
  FileSystem.FileSystem.use((fs) => Effect.orElseSucceed(fs.readFileString(path), () => ""))

for (const tested of SHELLS) {
  const test = tested.isInstalled ? it.live : it.live.skip
  describe(`Shell over ${tested.name}`, tested.options, () => {
    test("keeps exit code, stdout and stderr apart, and bytes as they are", () =>
      Effect.gen(function* () {
        const { run } = yield* withShell(tested)
        const all = yield* run("cat; echo oops >&2; exit 3", { stdin: ALL_BYTES })
        assert.deepStrictEqual([...all.stdout], [...ALL_BYTES])
        assert.deepStrictEqual([all.exitCode, all.err, all.timedOut, all.omittedBytes], [3, "oops\n", false, 0])
        const twice = join(Array.from({ length: 50 }, () => ALL_BYTES))
        assert.deepStrictEqual((yield* run("cat", { stdin: twice })).stdout, twice)
        assert.strictEqual((yield* run("cat; printf 'no line end'")).out, "no line end")
        assert.strictEqual((yield* run("sh -c 'kill -TERM $$'")).exitCode, 128 + 15)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

    test("survives whatever a command does to its shell, short of killing it", () =>
      Effect.gen(function* () {
        const { run } = yield* withShell(tested)
        const shell = (yield* run("echo $$")).out.trim()
        for (const command of [
          "exit 9",
          "exec true",
          "if",
          "'",
          "cd /; x=1; set -f; trap 'echo hi' EXIT",
          "exec 1>&-"
        ]) {
          yield* run(command)
        }
        assert.strictEqual((yield* run("pwd; echo $x; echo *")).out.split("\n")[1], "")
        assert.isTrue(yield* isAlive(shell))
        const died = yield* Effect.flip(run("kill -9 $$"))
        assert.strictEqual(died.reason._tag, "CommandNotRun")
        assert.strictEqual((yield* run("echo back")).out, "back\n")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

    test("passes variables whose values contain anything, and shows none of them to other processes", () =>
      Effect.gen(function* () {
        const { run } = yield* withShell(tested)
        const value = 'it\'s "$HOME" `x` \\ \n\t ü € %s'
        const env = { ODD: value, SECRET: Redacted.make("s3cret-value") }
        assert.strictEqual((yield* run('printf %s "$ODD"', { env })).out, value)
        const seen = yield* run(
          `for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline; done 2>/dev/null >all; case $(cat all) in *"$SECRET"*) echo leaked ;; esac`,
          { env }
        )
        assert.strictEqual(seen.out, "")
        assert.strictEqual((yield* run('echo "${SECRET-unset}"')).out, "unset\n")
        const refused = yield* Effect.flip(run("true", { env: { "A-B": "x" } }))
        const nul = yield* Effect.flip(run("true", { env: { A: Redacted.make("s3cret\0") } }))
        assert.deepStrictEqual([refused.reason._tag, nul.reason._tag], ["CommandNotRun", "CommandNotRun"])
        assert.notInclude(JSON.stringify(nul), "s3cret")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

    test("kills a command at its time limit with all it started, and spares what earlier commands left", () =>
      Effect.gen(function* () {
        const { folder, run } = yield* withShell(tested)
        const shell = (yield* run("echo $$")).out.trim()
        const earlier = (yield* run("sleep 1000 >/dev/null 2>&1 & echo $!")).out.trim()
        const limited = yield* run(
          "trap '' TERM; echo begun; sleep 1000 & echo $! >child; (sleep 1000 & echo $! >orphan); while :; do sleep 1; done",
          { timeLimit: Duration.millis(400) }
        )
        assert.deepStrictEqual([limited.exitCode, limited.timedOut, limited.out], [128 + 9, true, "begun\n"])
        yield* gone(yield* readFile(`${folder}/child`))
        yield* gone(yield* readFile(`${folder}/orphan`))
        assert.isTrue(yield* isAlive(earlier))
        assert.strictEqual((yield* run(`kill ${earlier}; echo still here`)).out, "still here\n")
        assert.isTrue(yield* isAlive(shell))
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

    test("takes the limit off a command that ends in time", () =>
      Effect.gen(function* () {
        const { run } = yield* withShell(tested)
        const slow = yield* run("sleep 0.3; exit 4", { timeLimit: Duration.seconds(5) })
        assert.deepStrictEqual([slow.exitCode, slow.timedOut], [4, false])
        const sleeps = yield* run("for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline; echo; done 2>/dev/null")
        assert.notMatch(sleeps.out, /^sleep 4\.[0-9]{3}/m)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

    test("kills a command whose fiber is interrupted", () =>
      Effect.gen(function* () {
        const { folder, run } = yield* withShell(tested)
        const fiber = yield* Effect.forkChild(run("sleep 1000 & echo $! >child; wait"))
        const pid = yield* eventually(readFile(`${folder}/child`), (text) => text.endsWith("\n"))
        yield* Fiber.interrupt(fiber)
        yield* gone(pid)
        assert.strictEqual((yield* run("echo on")).out, "on\n")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

    test("does not wait for a process that keeps the output, and lends its shell to nobody else", () =>
      Effect.gen(function* () {
        const { folder, opened, run } = yield* withShell(tested)
        const early = yield* run("{ until [ -e go ]; do sleep 0.01; done; echo late; : >done; } & echo early")
        assert.strictEqual(early.out, "early\n")
        const next = yield* run(": >go; until [ -e done ]; do sleep 0.01; done; echo mine")
        assert.strictEqual(next.out, "mine\n")
        assert.strictEqual(opened(), 2)
        assert.strictEqual(yield* readFile(`${folder}/done`), "")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
  })
}

const [any] = SHELLS.filter(({ isInstalled }) => isInstalled)

describe("Shell", () => {
  const test = any === undefined ? it.live.skip : it.live
  const tested = any ?? { name: "none", argv: ["sh"], isInstalled: false, options: { tags: [] } }

  it.effect.skipIf(any === undefined)(
    "lends a busy shell that is soon free, and opens another beside one that is not",
    () =>
      Effect.gen(function* () {
        const { opened, run } = yield* withShell(tested)
        yield* Effect.all([run("true"), run("true"), run("true")], { concurrency: "unbounded" })
        assert.strictEqual(opened(), 1)
        const long = yield* Effect.forkChild(run("while [ ! -e go ]; do sleep 0.01; done"))
        const other = yield* Effect.forkChild(run("touch go"))
        yield* TestClock.adjust("50 millis")
        yield* Fiber.join(other)
        yield* Fiber.join(long)
        assert.strictEqual(opened(), 2)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect.skipIf(any === undefined)("takes a shell that comes free while another one is still being opened", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { folder, opened, run } = yield* withShell(tested, (open, opened) =>
        opened === 1 ? open(["sh"]) : Effect.andThen(Deferred.await(gate), open(["sh"]))
      )
      yield* run("true")
      const long = yield* Effect.forkChild(run("until [ -e go ]; do sleep 0.01; done; echo long"))
      const other = yield* Effect.forkChild(run("echo other"))
      yield* TestClock.adjust("50 millis")
      assert.strictEqual(opened(), 2)
      yield* FileSystem.FileSystem.use((fs) => fs.writeFileString(`${folder}/go`, ""))
      assert.strictEqual((yield* Fiber.join(long)).out, "long\n")
      assert.strictEqual((yield* Fiber.join(other)).out, "other\n")
      yield* Deferred.succeed(gate, undefined)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect.skipIf(any === undefined)("fails a command for which no shell could be opened, and none beside it", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withShell(tested, (open, opened) =>
        opened === 1 ? open(["sh"]) : Effect.fail(refusal("no more shells"))
      )
      yield* run("true")
      const long = yield* Effect.forkChild(run("until [ -e go ]; do sleep 0.01; done; echo long"))
      const other = yield* Effect.forkChild(Effect.flip(run("echo other")))
      yield* TestClock.adjust("50 millis")
      assert.include((yield* Fiber.join(other)).message, "no more shells")
      yield* FileSystem.FileSystem.use((fs) => fs.writeFileString(`${folder}/go`, ""))
      assert.strictEqual((yield* Fiber.join(long)).out, "long\n")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  test("opens another shell for each command that is in the way, up to its limit, and maps every answer", () =>
    Effect.gen(function* () {
      const { folder, opened, run } = yield* withShell(tested)
      const hung = yield* Effect.forkChild(run("until [ -e go ]; do sleep 0.01; done; echo hung"))
      const answers = yield* Effect.forEach(
        Array.from({ length: 60 }, (_, n) => n),
        (n) => run(`echo ${n}; echo err ${n} >&2`),
        { concurrency: "unbounded" }
      )
      answers.forEach(({ err, out }, n) => assert.deepStrictEqual([out, err], [`${n}\n`, `err ${n}\n`]))
      // While one is opened another may come free; both are kept then.
      assert.isAtMost(opened(), 2 * MAX_SHELLS)
      yield* FileSystem.FileSystem.use((fs) => fs.writeFileString(`${folder}/go`, ""))
      assert.strictEqual((yield* Fiber.join(hung)).out, "hung\n")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  test("discards what arrives before its first frame, on both streams", () =>
    Effect.gen(function* () {
      const noise = Stream.make(encode('{"Detach":false}\n\u0001junk'))
      const { run } = yield* withShell(tested, (open) =>
        Effect.map(open(["sh"]), (duplex) => ({
          ...duplex,
          stdout: Stream.concat(noise, duplex.stdout),
          stderr: Stream.concat(noise, duplex.stderr)
        }))
      )
      assert.deepStrictEqual(yield* Effect.map(run("echo a; echo b >&2"), ({ err, out }) => [out, err]), ["a\n", "b\n"])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  test("says what answered in the place of a shell", () =>
    Effect.gen(function* () {
      const { run } = yield* withShell(tested, (open) => open(["echo", "exec: sh: not found"]))
      const error = yield* Effect.flip(run("true"))
      assert.include(error.reason._tag === "CommandNotRun" ? error.reason.detail : "", "exec: sh: not found")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  test("tells a lost environment from a shell that died", () =>
    Effect.gen(function* () {
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
      const lost = yield* Deferred.make<ReturnType<typeof refusal>>()
      const shell = yield* makeShell({
        environment: "this machine",
        open: openHere(spawner, tested),
        lost: Deferred.await(lost)
      })
      const loss = refusal("the machine is gone")
      const command = { command: "kill -9 $$", cwd: "/", timeLimit: Duration.seconds(5), maxOutputBytes: 100 }
      const [error] = yield* Effect.all([Effect.flip(shell.run(command)), Deferred.succeed(lost, loss)], {
        concurrency: "unbounded"
      })
      assert.strictEqual(error, loss)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
})
