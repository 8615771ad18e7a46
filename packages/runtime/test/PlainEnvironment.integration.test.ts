// @module-tag thorough
/** The contract of every environment, for one that nothing separates from this machine, and what is particular about it. */
import { NodeServices } from "@effect/platform-node"
import * as PlainEnvironment from "@buzz-orchestra/runtime/PlainEnvironment"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { HostProcess } from "@buzz-orchestra/runtime/docker/HostProcess"
import { LocalReaper } from "@buzz-orchestra/runtime/LocalReaper"
import * as ProcessOwner from "@buzz-orchestra/runtime/ProcessOwner"
import { sweep } from "@buzz-orchestra/runtime/Sweep"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { afterAll } from "vitest"
import { launchScript, parseStarted } from "../src/internal/launchScript.ts"
import { environmentSuite } from "./suites/EnvironmentSuite.ts"
import { SOAKING } from "./matrix/support/Cases.ts"
import { encode } from "./support/bytes.ts"
import { follow, output } from "./support/environment.ts"
import { processesWith, startHarness, uniqueSeconds } from "./support/harness.ts"
import { eventually } from "./support/shells.ts"
import { bsdMachine, CAN_HIDE_PROC } from "./support/withoutProc.ts"

const temporary = mkdtempSync(`${tmpdir()}/plain-`)
afterAll(() => rmSync(temporary, { recursive: true }))

describe("PlainEnvironment", () => {
  // Whatever is above the processes is the same code as in a sandbox, which `npm test` holds to the contract.
  describe.skipIf(!SOAKING)("in a soak", () => {
    environmentSuite("holds the contract", PlainEnvironment.layer(), { temporary })
  })

  it.live(
    "says what it cannot promise, and leaves nothing behind: neither files nor processes that left their session and ignore TERM",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { homeDirectory, pids } = yield* Effect.gen(function* () {
          const { exec, facts } = yield* EnvironmentService
          assert.match(facts.limitations[0] ?? "", /^Nothing protects this machine/)
          assert.match(facts.limitations.at(-1) ?? "", /goes on until the next reap/)
          const { reason } = yield* Effect.flip(exec("true", { user: "nobody" }))
          assert.match(reason.message, /no user but the one who started it, and nobody was asked for/)
          const text = yield* output(
            `(trap '' TERM; setsid sleep 1000 >/dev/null 2>&1 & echo $!); sleep 1000 >/dev/null & echo $!`
          )
          return { homeDirectory: facts.homeDirectory, pids: text.trim().split("\n") }
        }).pipe(Effect.provide(PlainEnvironment.layer()))
        for (const pid of pids) assert.match(yield* statOf(pid), / Z |^gone$/)
        assert.isFalse(yield* fs.exists(homeDirectory))
      }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("keeps its directory where it is told to, and may be opened there again", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const options = { keep: `${temporary}/kept`, programs: { node: process.execPath } }
      for (const said of ["one\n", "one\none\n"]) {
        yield* output("echo one >>said").pipe(Effect.provide(PlainEnvironment.layer(options)))
        assert.strictEqual(yield* fs.readFileString(`${temporary}/kept/work/said`), said)
      }
      assert.strictEqual(yield* fs.readLink(`${temporary}/kept/opt/buzz/bin/node`), process.execPath)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live(
    "outlives a kill -9 of its harness, until somebody reaps",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const seconds = yield* uniqueSeconds
        const { handle, said } = yield* startHarness("plain", seconds)
        yield* handle.kill({ killSignal: "SIGKILL" })
        // Shells end with their stdin, and what they were waiting for goes on.
        assert.isAtLeast((yield* processesWith(seconds)).length, 4)
        const [, place = "none"] = /^(\/.*)\/home$/m.exec(said) ?? []
        assert.isTrue(yield* fs.exists(place))
        // Another test may reap at the same moment, and take what it finds.
        const { refused } = yield* LocalReaper.use(({ reap }) => reap())
        assert.deepStrictEqual(refused, [])
        yield* eventually(processesWith(seconds), (left) => left.length === 0)
        yield* eventually(fs.exists(place), (isThere) => !isThere)
      }).pipe(
        Effect.scoped,
        Effect.provide(LocalReaper.layer.pipe(Layer.provide(HostProcess.layer), Layer.provideMerge(NodeServices.layer)))
      ),
    60_000
  )

  it.live.skipIf(!CAN_HIDE_PROC)(
    "does without /proc and setsid: it kills, watches, sweeps and ends by what ps tells",
    () =>
      Effect.gen(function* () {
        const machine = yield* bsdMachine
        const environment = PlainEnvironment.layer({ env: { PATH: machine.path } }).pipe(Layer.provide(machine.layer))
        yield* reapsWithoutProc.pipe(
          Effect.provide(
            LocalReaper.layer.pipe(Layer.provideMerge(HostProcess.layer), Layer.provideMerge(machine.layer))
          )
        )
        const left = yield* withoutProc.pipe(Effect.provide(environment))
        for (const pid of left) assert.match(yield* statOf(pid), / Z |^gone$/)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    60_000
  )
})

/** Knows itself and others, and ends what a dead owner left. */
const reapsWithoutProc = Effect.gen(function* () {
  const { knowsOthers, self, startTimeOf } = yield* HostProcess
  assert.isTrue(knowsOthers)
  assert.strictEqual(self.pid, process.pid)
  assert.strictEqual(yield* startTimeOf(process.pid), self.pidStartTime)
  const gone = 4_194_305
  assert.isUndefined(yield* startTimeOf(gone))
  const owner = { run: "a run", trial: "t", ...self, created: "" }
  const started = (marks: Readonly<Record<string, string>>) =>
    Effect.acquireRelease(
      Effect.sync(() => spawn("sleep", ["1003"], { env: { PATH: "/usr/bin:/bin", ...marks } })),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
  const living = yield* started(ProcessOwner.toVariable(owner))
  const dead = yield* started(ProcessOwner.toVariable({ ...owner, pid: gone }))
  const { kept, removed } = yield* LocalReaper.use(({ reap }) => reap())
  const told = (decisions: typeof removed) =>
    decisions.flatMap(({ object }) => (object.kind === "process" ? [[object.pid, object.command]] : []))
  assert.deepInclude(told(removed), [dead.pid, "sleep 1003"])
  assert.deepInclude(told(kept), [living.pid, "sleep 1003"])
  assert.match(yield* statOf(String(dead.pid)), / Z |^gone$/)
}).pipe(Effect.scoped)

/** Returns pids of what the end of the environment has to end. */
const withoutProc = Effect.gen(function* () {
  const { exec, facts, upload } = yield* EnvironmentService
  assert.match(facts.limitations.join(), /told apart by the second/)
  assert.match(yield* output("ls /proc; command -v stat; command -v setsid; :"), /^\S+\/helpers\/setsid\n$/)

  const limited = yield* exec("sleep 1000 & echo $!; wait", { timeLimit: "300 millis" })
  assert.isTrue(limited.timedOut)
  yield* eventually(statOf(limited.stdout), (stat) => / Z |^gone$/.test(stat))

  const bin = `${facts.stackRoots?.[0]}/bin`
  yield* upload(
    { content: encode("#!/bin/sh\nsleep 1000 &\nsetsid sh -c 'exec sleep 1001'&\necho up\nwait") },
    `${bin}/agent`,
    { mode: 0o755 }
  )
  const { logsDirectory: logs } = facts
  const watch = yield* follow(logs)
  const started = parseStarted(yield* output(launchScript({ name: "agent", program: `${bin}/agent`, args: [], logs })))
  yield* watch.awaitLog("agent.stdout.log", (text) => text === "up\n")
  yield* watch.awaitEvent(
    (event) => event._tag === "ProcessSeen" && event.pid === started?.pid && event.startTime === started.startTime
  )
  const service = (yield* output("setsid sleep 1002 >/dev/null 2>&1 & echo $!")).trim()
  const report = yield* sweep({ roots: started === undefined ? [] : [started], bin })
  assert.deepStrictEqual(report.survivors, [])
  assert.lengthOf([...report.terminated, ...report.killed], 3)
  assert.deepStrictEqual(
    report.spared.map(({ command, pid }) => [String(pid), command]),
    [[service, "sleep 1002"]]
  )
  yield* watch.awaitEvent((event) => event._tag === "ProcessDied" && event.name === "agent")
  return [service]
}).pipe(Effect.scoped)

const statOf = (pid: string) =>
  FileSystem.FileSystem.use((fs) => Effect.orElseSucceed(fs.readFileString(`/proc/${pid.trim()}/stat`), () => "gone"))
