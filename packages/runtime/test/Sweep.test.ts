/** The sweep's steps against the double: what cannot be had from real processes. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { CommandNotRun, EnvironmentError, EnvironmentLost } from "@buzz-orchestra/runtime/EnvironmentError"
import { sweep } from "@buzz-orchestra/runtime/Sweep"
import { type Answer, exited, RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { Effect, Fiber, Layer, Ref } from "effect"
import { TestClock } from "effect/testing"

const BIN = "/opt/buzz/bin"

/** A process of the double; `ends` is the signal it goes by. */
interface Simulated {
  readonly pid: number
  readonly ppid: number
  readonly ends: "TERM" | "KILL" | "never"
  readonly command: string
  /** Default: its own. */
  readonly session?: number
}

/** Answers the sweep's commands as an environment with these processes would. */
const simulate = (processes: ReadonlyArray<Simulated>): Answer => {
  let alive = [...processes]
  return (command) => {
    const [, digits] = /^m='\\001([0-9a-f]+)'/.exec(command) ?? []
    if (digits !== undefined) {
      const mark = `\u0001${digits}`
      const stat = ({ pid, ppid, session = pid }: Simulated) =>
        `${pid} (x) S ${ppid} ${pid} ${session} ${"0 ".repeat(15)}${pid}0 0`
      const exe = ({ command, pid }: Simulated) =>
        `lrwxrwxrwx 1 0 0 0 Nov 30 03:00 /proc/${pid}/exe -> ${command.split(" ")[0]}`
      return exited(0, {
        stdout: [
          `${mark}shell\n2\n${mark}bin\n${BIN}\n${mark}stat\n${alive.map(stat).join("\n")}\n`,
          `${mark}exe\n${alive.map(exe).join("\n")}\n`,
          ...alive.map((process) => `${mark}${process.pid}\n${process.command.replaceAll(" ", "\0")}\0`)
        ].join("")
      })
    }
    const [, targets] = /\nleft='([^']*)'/.exec(command) ?? []
    const [, signal] = /\n {2}kill -([A-Z0]+) /.exec(command) ?? []
    if (targets === undefined) return undefined
    const pids = targets.split(" ").map((target) => Number(target.split(":")[0]))
    alive = alive.filter(
      ({ ends, pid }) => !pids.includes(pid) || (signal === "TERM" ? ends !== "TERM" : ends === "never")
    )
    const left = alive.filter(({ pid }) => pids.includes(pid))
    return exited(0, { stdout: left.map(({ pid }) => `${pid}\n`).join("") })
  }
}

const over = (answer: Answer) =>
  Effect.provide(RecordingEnvironment.layer({ answers: [answer] }).pipe(Layer.provideMerge(NodeServices.layer)))

const root = (pid: number) => ({ pid, startTime: `${pid}0` })

const init: Simulated = { pid: 1, ppid: 0, ends: "never", command: "/sbin/init" }

/** The signals sent, in order. */
const signals = Effect.map(
  RecordingEnvironment.use(({ commands }) => commands),
  (commands) => commands.flatMap(({ command }) => /\n {2}kill -([A-Z0]+) /.exec(command)?.[1] ?? [])
)

describe("sweep", () => {
  it.effect("sends TERM before KILL, and KILL only to what TERM did not end", () =>
    Effect.gen(function* () {
      const report = yield* sweep({ roots: [root(10)], bin: BIN })
      assert.deepStrictEqual(report, {
        terminated: [{ pid: 10, command: "/usr/bin/a --x" }],
        killed: [{ pid: 11, command: "/usr/bin/b" }],
        survivors: [],
        spared: [{ pid: 20, command: "/usr/bin/service", ports: [] }]
      })
      assert.deepStrictEqual(yield* signals, ["TERM", "KILL"])
      const sent = yield* RecordingEnvironment.use(({ commands }) => commands)
      const [term, kill] = sent.flatMap(({ command }) => /\nleft='([^']*)'/.exec(command)?.[1] ?? [])
      assert.deepStrictEqual([term, kill], ["10:100 11:110", "11:110"])
    }).pipe(
      over(
        simulate([
          init,
          { pid: 10, ppid: 1, ends: "TERM", command: "/usr/bin/a --x" },
          { pid: 11, ppid: 10, ends: "KILL", command: "/usr/bin/b" },
          { pid: 20, ppid: 1, ends: "never", command: "/usr/bin/service" }
        ])
      )
    )
  )

  it.effect("gives up on what nothing ends, and says so", () =>
    Effect.gen(function* () {
      const report = yield* sweep({ roots: [], bin: BIN })
      assert.deepStrictEqual(report.survivors, [{ pid: 10, command: `${BIN}/stuck` }])
      assert.deepStrictEqual([report.terminated, report.killed], [[], []])
      assert.deepStrictEqual(yield* signals, ["TERM", "KILL", "KILL", "KILL"])
    }).pipe(over(simulate([init, { pid: 10, ppid: 1, ends: "never", command: `${BIN}/stuck` }])))
  )

  it.effect("sends nothing where there is nothing to end", () =>
    Effect.gen(function* () {
      const report = yield* sweep({ roots: [root(10)], bin: BIN })
      assert.deepStrictEqual(report, { terminated: [], killed: [], survivors: [], spared: [] })
      assert.deepStrictEqual(yield* signals, [])
    }).pipe(over(simulate([init])))
  )

  const failing = (matches: (command: string) => boolean, broken: ReturnType<Answer>): Answer => {
    const answer = simulate([init, { pid: 10, ppid: 1, ends: "KILL", command: "/usr/bin/a" }])
    return (command, ...rest) => (matches(command) ? broken : answer(command, ...rest))
  }
  const refused = new EnvironmentError({
    operation: "EnvironmentService.exec",
    reason: new CommandNotRun({ environment: "double", action: "run a command", detail: "no shell" })
  })

  const told = Effect.gen(function* () {
    const said = yield* Ref.make<ReadonlyArray<string>>([])
    const warn = (trouble: string) => Ref.update(said, (all) => [...all, trouble])
    return { report: yield* sweep({ roots: [root(10)], bin: BIN, warn }), troubles: yield* Ref.get(said) }
  })

  it.effect("ends what was started while TERM was being sent, and has no parent any more", () => {
    const agent: Simulated = { pid: 10, ppid: 1, ends: "TERM", command: "/usr/bin/a" }
    const orphan: Simulated = { pid: 30, ppid: 1, session: 10, ends: "KILL", command: "/usr/bin/late" }
    const service: Simulated = { pid: 31, ppid: 1, ends: "KILL", command: "/usr/bin/service" }
    const answer = simulate([init, agent])
    const late = simulate([init, orphan, service])
    let isLate = false
    const forking: Answer = (command, ...rest) => {
      if (command.includes("kill -TERM")) isLate = true
      return (isLate ? late : answer)(command, ...rest)
    }
    return Effect.gen(function* () {
      const report = yield* sweep({ roots: [root(10)], bin: BIN })
      assert.deepStrictEqual(report.terminated, [{ pid: 10, command: "/usr/bin/a" }])
      assert.deepStrictEqual(report.killed, [{ pid: 30, command: "/usr/bin/late" }])
      assert.deepStrictEqual(report.spared, [{ pid: 31, command: "/usr/bin/service", ports: [] }])
    }).pipe(over(forking))
  })

  it.effect("comes to KILL although TERM could not be sent, and says so", () =>
    Effect.gen(function* () {
      const { report, troubles } = yield* told
      assert.deepStrictEqual(report.killed, [{ pid: 10, command: "/usr/bin/a" }])
      assert.deepStrictEqual(troubles, [refused.reason.message])
      assert.deepStrictEqual(yield* signals, ["TERM", "KILL"])
    }).pipe(over(failing((command) => command.includes("kill -TERM"), refused)))
  )

  it.effect("waits for no call that hangs", () =>
    Effect.gen(function* () {
      const sweeping = yield* Effect.forkChild(told)
      yield* TestClock.adjust("10 seconds")
      const { report, troubles } = yield* Fiber.join(sweeping)
      assert.deepStrictEqual(report.killed, [{ pid: 10, command: "/usr/bin/a" }])
      assert.match(troubles.join(), /could not send TERM: no answer within 10s/)
    }).pipe(over(failing((command) => command.includes("kill -TERM"), Effect.never)))
  )

  it.effect("ends what was launched where it cannot see what runs, and fails because nobody knows what is left", () =>
    Effect.gen(function* () {
      const options = { roots: [root(10), { pid: 11, startTime: undefined }, root(12)], bin: BIN, spare: [12] }
      assert.strictEqual(yield* Effect.flip(sweep(options)), refused)
      const sent = yield* RecordingEnvironment.use(({ commands }) => commands)
      const targets = sent.flatMap(({ command }) => /\nleft='([^']*)'/.exec(command)?.[1] ?? [])
      assert.deepStrictEqual(new Set(targets), new Set(["10:100"]))
      assert.deepStrictEqual((yield* signals).slice(0, 2), ["TERM", "KILL"])
    }).pipe(over(failing((command) => command.startsWith("m="), refused)))
  )

  it.effect("fails when the environment is gone", () => {
    const lost = new EnvironmentError({
      operation: "EnvironmentService.exec",
      reason: new EnvironmentLost({ environment: "double", detail: "gone", exitCode: undefined })
    })
    return Effect.gen(function* () {
      assert.strictEqual(yield* Effect.flip(sweep({ roots: [root(10)], bin: BIN })), lost)
    }).pipe(over(() => lost))
  })
})
