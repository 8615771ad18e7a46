/** Commands in an environment. */
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { ALL_BYTES, encode } from "../support/bytes.ts"
import {
  type EnvironmentIt,
  type EnvironmentSuiteOptions,
  gone,
  isAlive,
  output,
  scratch
} from "../support/environment.ts"
import { eventually } from "../support/shells.ts"

/** `od` is the oracle for bytes. */
const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")

const OD = "od -An -v -tx1 | tr -d ' \\n'"

export const execSuite = (it: EnvironmentIt, options: EnvironmentSuiteOptions): void => {
  describe("exec", () => {
    it.effect("says how a command ended and what it printed", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const result = yield* environment.exec("echo out; echo err >&2; exit 3")
        assert.deepStrictEqual(
          { ...result },
          { exitCode: 3, stdout: "out\n", stderr: "err\n", timedOut: false, omittedBytes: 0 }
        )
        assert.strictEqual((yield* environment.exec("exit 255")).exitCode, 255)
        assert.strictEqual((yield* environment.exec("sh -c 'kill -TERM $$'")).exitCode, 128 + 15)
        assert.strictEqual((yield* environment.exec("no-such-command-here")).exitCode, 127)
        assert.strictEqual((yield* environment.exec("printf 'ü€ without a line end'")).stdout, "ü€ without a line end")
      })
    )

    it.effect("states facts that are true", () =>
      Effect.gen(function* () {
        const { facts } = yield* EnvironmentService
        assert.strictEqual((yield* output("uname -m")).trim(), facts.architecture)
        for (const folder of [facts.workDirectory, facts.logsDirectory, facts.testsDirectory, facts.homeDirectory]) {
          yield* output(`: >${folder}/.probe && rm ${folder}/.probe`)
        }
        assert.strictEqual((yield* output("pwd")).trim(), facts.workDirectory)
        assert.strictEqual((yield* output("ls -A $HOME")).trim(), "")
      })
    )

    it.effect("gives a command its stdin byte by byte, small and large, and nothing by default", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        assert.strictEqual((yield* environment.exec(OD, { stdin: ALL_BYTES })).stdout, hex(ALL_BYTES))
        const large = new Uint8Array(700_000).map((_, index) => (index * 7) % 256)
        const sum = (yield* environment.exec("sha256sum", { stdin: large })).stdout.slice(0, 64)
        const digest = yield* Effect.promise(() => crypto.subtle.digest("SHA-256", large))
        assert.strictEqual(sum, hex(new Uint8Array(digest)))
        assert.strictEqual((yield* environment.exec("cat")).stdout, "")
      })
    )

    it.effect("keeps variables out of every process's arguments and out of later commands", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const env = { PLAIN: 'it\'s "$HOME"\n`x`', TOKEN: Redacted.make("t0ken-value") }
        assert.strictEqual((yield* environment.exec('printf %s "$PLAIN"', { env })).stdout, env.PLAIN)
        const seen = yield* environment.exec(
          `for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline; done 2>/dev/null >all; case $(cat all) in *"$TOKEN"*) echo leaked ;; *) echo "$TOKEN" | wc -c ;; esac; rm all`,
          { env }
        )
        assert.strictEqual(seen.stdout.trim(), "12")
        assert.strictEqual((yield* environment.exec('echo "${TOKEN-unset}"')).stdout, "unset\n")
      })
    )

    it.effect("runs where it is told to, and says when that place is missing", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        assert.strictEqual((yield* environment.exec("pwd", { cwd: "/tmp" })).stdout, "/tmp\n")
        const error = yield* Effect.flip(environment.exec("pwd", { cwd: "/no/such/place" }))
        assert.strictEqual(error.reason._tag, "CommandNotRun")
      })
    )

    it.effect.skipIf(options.otherUser === undefined)("runs as another user", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const user = options.otherUser ?? ""
        const as = yield* environment.exec("id -un; cat", { user, cwd: "/", stdin: encode("input") })
        assert.strictEqual(as.stdout, `${user}\ninput`)
        const large = new Uint8Array(300_000).fill(0x61)
        assert.strictEqual((yield* environment.exec("wc -c", { user, cwd: "/", stdin: large })).stdout.trim(), "300000")
        const error = yield* Effect.flip(environment.exec("true", { user: "no-such-user-here" }))
        assert.strictEqual(error.reason._tag, "CommandNotRun")
      })
    )

    it.effect("kills a command inside at its time limit, and what earlier commands left lives on", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const earlier = yield* output("sleep 1000 >/dev/null 2>&1 & echo $!")
        const result = yield* environment.exec("echo begun; trap '' TERM; sleep 1000 & echo $! >child; wait", {
          timeLimit: "300 millis"
        })
        assert.deepStrictEqual([result.exitCode, result.timedOut, result.stdout], [128 + 9, true, "begun\n"])
        yield* gone(yield* output("cat child; rm child"))
        assert.isTrue(yield* isAlive(earlier))
        yield* output(`kill ${earlier}`)
        yield* gone(earlier)
      })
    )

    it.effect("kills a command inside when its fiber is interrupted", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const place = yield* scratch
        const fiber = yield* Effect.forkChild(environment.exec(`sleep 1000 & echo $! >${place}/child; wait`))
        const pid = yield* eventually(output(`cat ${place}/child 2>/dev/null || :`), (text) => text.endsWith("\n"))
        yield* Fiber.interrupt(fiber)
        yield* gone(pid)
      })
    )

    it.effect("does not make others wait for a command that hangs", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const place = yield* scratch
        const hung = yield* Effect.forkChild(
          environment.exec(`until [ -e ${place}/go ]; do sleep 0.01; done; echo late`)
        )
        const answers = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, n) => n),
          (n) => environment.exec(`echo ${n}`),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          answers.map(({ stdout }) => stdout),
          answers.map((_, n) => `${n}\n`)
        )
        yield* output(`: >${place}/go`)
        assert.strictEqual((yield* Fiber.join(hung)).stdout, "late\n")
      })
    )

    it.effect("caps output, keeps both ends and counts the rest", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const command = "echo head; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo tail"
        const result = yield* environment.exec(command, { maxOutputBytes: 1000 })
        assert.strictEqual(result.stdout.length, 1000)
        assert.match(result.stdout, /^head\nx+\ntail\n$/)
        assert.strictEqual(result.omittedBytes, 3_000_011 - 1000)
      })
    )

    it.effect("does not wait for a background process, even one that keeps the output", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const place = yield* scratch
        const early = yield* environment.exec(
          `{ until [ -e ${place}/go ]; do sleep 0.01; done; echo late; : >${place}/done; } & echo early`
        )
        assert.strictEqual(early.stdout, "early\n")
        const next = yield* environment.exec(
          `: >${place}/go; until [ -e ${place}/done ]; do sleep 0.01; done; echo mine`
        )
        assert.strictEqual(next.stdout, "mine\n")
      })
    )

    it.effect("goes on after a command that ended its shell", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const error = yield* Effect.flip(environment.exec("kill -9 $$"))
        assert.strictEqual(error.reason._tag, "CommandNotRun")
        for (const command of ["exit 7", "exec true", "if", "set -e; false", "cd /tmp"])
          yield* environment.exec(command)
        assert.strictEqual((yield* output("pwd")).trim(), environment.facts.workDirectory)
      })
    )
  })
}
