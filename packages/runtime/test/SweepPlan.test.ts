import { assert, describe, it } from "@effect/vitest"
import {
  bornSince,
  planSweep,
  type ProcessRecord,
  type ProcessSnapshot,
  runsFrom,
  scriptOf,
  type SweepPlanOptions
} from "@buzz-orchestra/runtime/SweepPlan"
import { Arbitrary } from "effect"
import { between } from "./support/bytes.ts"

const BIN = "/opt/buzz/bin"
const SHELL = 2

const process = (pid: number, ppid: number, more?: Partial<ProcessRecord>): ProcessRecord => ({
  pid,
  ppid,
  state: "S",
  session: pid,
  startTime: String(pid),
  exe: "/usr/bin/sleep",
  argv: ["sleep", "100"],
  ...more
})

const snapshot = (...processes: ReadonlyArray<ProcessRecord>): ProcessSnapshot => ({
  processes: [process(1, 0, { session: 1 }), process(SHELL, 0, { exe: "/usr/bin/dash", argv: ["sh"] }), ...processes],
  shell: SHELL,
  entry: 0,
  bin: [BIN]
})

const plan = (taken: ProcessSnapshot, options?: Partial<SweepPlanOptions>) => {
  const { end, spared } = planSweep(taken, { roots: [], all: false, spare: [], ...options })
  return { end: end.map(({ pid }) => pid), spared: spared.map(({ pid }) => pid) }
}

const root = (pid: number, startTime: string | undefined = String(pid)) => ({ pid, startTime })

/** A forest: each process's parent is one with a smaller pid, or 0 for one that entered from outside. */
const forest: Arbitrary.Arbitrary<ReadonlyArray<ProcessRecord>> = Arbitrary.map(
  Arbitrary.array(Arbitrary.all([between(0, 1000), between(0, 9), between(0, 9)]), { maxLength: 25 }),
  (seeds) =>
    seeds.map(([parent, state, exe], index) =>
      process(index + 3, parent % (index + 3), {
        state: state === 0 ? "Z" : state === 1 ? "T" : "S",
        exe: exe === 0 ? `${BIN}/buzz-acp` : "/usr/bin/sleep"
      })
    )
)

/** The obvious way, one process at a time. */
const reaches = (processes: ReadonlyArray<ProcessRecord>, pid: number, goal: ReadonlySet<number>): boolean => {
  for (let at: number | undefined = pid; at !== undefined;) {
    if (goal.has(at)) return true
    at = processes.find((one) => one.pid === at && one.state !== "Z")?.ppid
  }
  return false
}

const oracle = (taken: ProcessSnapshot, roots: ReadonlyArray<number>, all: boolean): ReadonlyArray<number> =>
  taken.processes
    .filter((one) => {
      if (one.state === "Z" || one.pid === 1 || reaches(taken.processes, one.pid, new Set([SHELL]))) return false
      const goal = new Set(
        taken.processes
          .filter(({ exe, pid, state }) => pid > 2 && state !== "Z" && (roots.includes(pid) || exe?.startsWith(BIN)))
          .map(({ pid }) => pid)
      )
      return reaches(taken.processes, one.pid, goal) || (all && one.ppid !== 0)
    })
    .map(({ pid }) => pid)

describe("bornSince", () => {
  const agent = process(10, 1, { exe: `${BIN}/buzz-agent` })
  const before = snapshot(agent, process(20, 1))

  it("is what the stack started meanwhile, also when its parent has ended since", () => {
    const now = snapshot(process(30, 1, { session: 10 }), process(31, 30, { session: 10, state: "Z" }), process(20, 1))
    assert.deepStrictEqual(
      bornSince(before, now, [root(10)]).map(({ pid }) => pid),
      [30]
    )
    const { end } = plan(now, { roots: [root(10), ...bornSince(before, now, [root(10)])] })
    assert.deepStrictEqual(end, [30])
  })

  it("is not what was there, what left the session, what others started, nor what entered from outside", () => {
    const now = snapshot(
      agent,
      process(30, 1),
      process(31, 20, { session: 20 }),
      process(32, 0, { session: 10 }),
      process(33, 1, { session: 1 })
    )
    assert.deepStrictEqual(bornSince(before, now, [root(10), root(1), root(SHELL)]), [])
  })
})

describe("planSweep", () => {
  it.prop(
    "ends exactly what is reached, runs from bin, or is asked for by all",
    { processes: forest, roots: Arbitrary.array(between(1, 30), { maxLength: 4 }), all: between(0, 1) },
    ({ all, processes, roots }) => {
      const taken = snapshot(...processes)
      const { end, spared } = plan(taken, { roots: roots.map((pid) => root(pid)), all: all === 1 })
      assert.deepStrictEqual(
        end.toSorted((a, b) => a - b),
        oracle(taken, roots, all === 1)
      )
      assert.isFalse(end.includes(1) || end.includes(SHELL))
      assert.isFalse(spared.some((pid) => end.includes(pid)))
      for (const { pid, ppid } of processes)
        if (end.includes(pid) && end.includes(ppid)) assert.isBelow(end.indexOf(ppid), end.indexOf(pid))
    }
  )

  it("never ends the shell it runs in, nor what that has started, although it was launched through it", () => {
    const taken = snapshot(process(10, SHELL, { exe: `${BIN}/buzz` }), process(11, 10))
    assert.deepStrictEqual(plan(taken, { roots: [root(SHELL), root(1)], all: true }).end, [])
  })

  it("ends what an orphan of the stack is running", () => {
    const taken = snapshot(
      process(10, 1, { exe: `${BIN}/buzz-agent` }),
      process(11, 10),
      process(12, 11),
      process(13, 1)
    )
    assert.deepStrictEqual(plan(taken), { end: [10, 11, 12], spared: [13] })
  })

  it("does not take a process that got the pid of a launched one for it", () => {
    const taken = snapshot(process(10, 1, { startTime: "999" }), process(11, 10))
    assert.deepStrictEqual(plan(taken, { roots: [root(10)] }), { end: [], spared: [10, 11] })
    assert.deepStrictEqual(plan(taken, { roots: [{ pid: 10, startTime: undefined }] }).end, [10, 11])
  })

  it("survives a loop of parents, which a snapshot that is not atomic can show", () => {
    const taken = snapshot(process(10, 11), process(11, 10))
    assert.deepStrictEqual(plan(taken, { roots: [root(11)] }).end.toSorted(), [10, 11])
  })

  it("spares a service outside bin, unless all is asked for; image services, and visitors with their children, never", () => {
    const taken = snapshot(
      process(10, 1, { session: 1, argv: ["sshd"] }),
      process(11, 1, { argv: ["postgres"] }),
      process(12, 0, { argv: ["sh"] }),
      process(13, 12, { session: 12, argv: ["sleep", "0.05"] })
    )
    assert.deepStrictEqual(plan(taken), { end: [], spared: [11] })
    assert.deepStrictEqual(plan(taken, { all: true }), { end: [11], spared: [] })
  })

  it("leaves the pids alone that it is told to, and says so", () => {
    const taken = snapshot(process(10, 1, { exe: `${BIN}/relay-forwarder` }))
    assert.deepStrictEqual(plan(taken, { roots: [root(10)], all: true, spare: [10] }), { end: [], spared: [10] })
  })
})

describe("a machine that others use", () => {
  const HARNESS = 50
  /** A harness with two shells, a marked service that lost its parent, its child, and what others run. */
  const shared = (marked: ReadonlyArray<number>, ...more: ReadonlyArray<ProcessRecord>): ProcessSnapshot => ({
    processes: [
      process(1, 0, { session: 1 }),
      process(30, 1),
      process(HARNESS, 30),
      process(60, HARNESS),
      process(61, HARNESS),
      process(70, 1),
      process(71, 70, { session: 70 }),
      process(80, 1),
      process(81, 80),
      ...more
    ],
    shell: 60,
    entry: HARNESS,
    bin: [BIN],
    marked: new Set(marked)
  })
  const OURS = [60, 61, 70]

  it("loses nothing but what carries the mark and what descends from it", () => {
    assert.deepStrictEqual(plan(shared(OURS)), { end: [], spared: [70, 71] })
    assert.deepStrictEqual(plan(shared(OURS), { all: true }), { end: [70, 71], spared: [] })
  })

  it("does not take for the task's what a shell started whose own mark is not seen", () => {
    const pause = process(62, 61, { session: 61 })
    assert.deepStrictEqual(plan(shared([60, 62, 70], pause), { all: true }), { end: [70, 71], spared: [] })
  })

  it("loses nothing at all when nothing is known to be ours", () => {
    assert.deepStrictEqual(plan(shared([]), { all: true }), { end: [], spared: [] })
  })

  it("loses what was launched or runs from bin without the mark, but nobody for a pid alone", () => {
    const taken = shared(OURS, process(90, 1, { exe: `${BIN}/buzz-acp` }))
    assert.deepStrictEqual(plan(taken, { roots: [root(80)] }).end, [80, 90, 81])
    const unseen = [root(1, undefined), { pid: 80, startTime: undefined }, root(30, "another")]
    assert.deepStrictEqual(plan(taken, { roots: unseen, all: true }).end, [70, 90, 71])
  })
})

const runs = (argv: ReadonlyArray<string>, exe = "/usr/bin/node") => runsFrom([BIN], process(5, 1, { exe, argv }))

describe("runsFrom", () => {
  it("knows executables and scripts in bin", () => {
    assert.isTrue(runs(["x"], `${BIN}/buzz-acp`))
    assert.isTrue(runs(["node", `${BIN}/buzz-acp`, "--port", "1"]))
    assert.isTrue(runs(["node", "--no-warnings", `${BIN}/../bin/buzz`]))
    assert.isTrue(runs(["/bin/sh", "-eu", `${BIN}/hook`], "/usr/bin/dash"))
  })

  it("does not take a mention of bin for a program in it", () => {
    assert.isFalse(runs(["tail", "-f", `${BIN}/buzz`], "/usr/bin/tail"))
    assert.isFalse(runs(["cat", `${BIN}/buzz`], "/usr/bin/busybox"))
    assert.isFalse(runs(["sh", "-c", `grep x ${BIN}/buzz`, `${BIN}/buzz`], "/usr/bin/dash"))
    assert.isFalse(runs(["node", "-e", "1", `${BIN}/buzz`]))
    assert.isFalse(runs(["x"], `${BIN}-other/buzz`))
    assert.isFalse(runs(["node", `${BIN}/../other/buzz`]))
    assert.isFalse(runs([], undefined))
  })

  it("knows interpreters by their executable, busybox by what it is called, and others by name only if they must", () => {
    assert.strictEqual(scriptOf({ exe: "/usr/bin/python3.11", argv: ["anything", "/a"] }), "/a")
    assert.strictEqual(scriptOf({ exe: "/bin/busybox", argv: ["/bin/sh", "/a"] }), "/a")
    assert.strictEqual(scriptOf({ exe: undefined, argv: ["node", "--", "/a"] }), "/a")
    assert.strictEqual(scriptOf({ exe: "/usr/bin/cat", argv: ["sh", "/a"] }), undefined)
  })

  it("does not guess where a relative script lies", () => {
    assert.strictEqual(scriptOf({ exe: "/usr/bin/node", argv: ["node", "bin/buzz"] }), undefined)
  })
})
