/**
 * Ends the stack's processes in an environment: TERM, wait until they are gone, KILL what is not, look again. What belongs
 * to the stack is decided in `SweepPlan`; what is run inside is in `internal/sweepScript`.
 */
import { Duration, Effect } from "effect"
import type { EnvironmentError } from "./EnvironmentError.ts"
import { EnvironmentService } from "./EnvironmentService.ts"
import { randomMarker } from "./internal/randomMarker.ts"
import {
  parsePorts,
  parseSnapshot,
  portsScript,
  type ProcessIdentity,
  signalScript,
  snapshotScript
} from "./internal/sweepScript.ts"
import type { SweptProcess } from "./TrialEvent.ts"
import { planSweep, type ProcessRecord, type SweepPlanOptions, type SweepRoot } from "./SweepPlan.ts"

export interface SweepOptions {
  /** What was launched. */
  readonly roots: ReadonlyArray<SweepRoot>
  /** The layout's `bin`. */
  readonly bin: string
  /** Default false. */
  readonly all?: boolean
  /** Pids left alone, such as the forwarder's while somebody still needs it. */
  readonly spare?: ReadonlyArray<number>
}

/** A process that was left alone. */
export interface SparedProcess extends SweptProcess {
  /** TCP ports it listens on, where the environment tells. */
  readonly ports: ReadonlyArray<number>
}

export interface SweepReport {
  /** Gone after TERM. */
  readonly terminated: ReadonlyArray<SweptProcess>
  /** Gone only after KILL. */
  readonly killed: ReadonlyArray<SweptProcess>
  /** Still there. */
  readonly survivors: ReadonlyArray<SweptProcess>
  /** Left alone on purpose: running, and neither launched nor from `bin`. */
  readonly spared: ReadonlyArray<SparedProcess>
}

/** How long TERM may take. */
const TERM_LIMIT = Duration.seconds(2)

/** How long the kernel may take to end what was killed. */
const KILL_LIMIT = Duration.seconds(1)

/** Time for a launch's waiting shell to note how its program ended. */
const FAREWELL_LIMIT = Duration.millis(300)

/** Looks for processes that were started while others were being ended. */
const KILL_ROUNDS = 3

/** What is kept of a process's arguments. */
const COMMAND_CHARACTERS = 200

/**
 * Ends everything of the stack. It always has the whole report: a process that cannot be ended is a survivor, not an
 * error. Takes as long as the slowest process, at most about 6 s.
 */
export const sweep = Effect.fn("Sweep.sweep")(function* (
  options: SweepOptions
): Effect.fn.Return<SweepReport, EnvironmentError, EnvironmentService> {
  const rule: SweepPlanOptions = { roots: options.roots, all: options.all ?? false, spare: options.spare ?? [] }
  const before = yield* snapshot(options.bin)
  const { end } = planSweep(before, rule)
  const stubborn = yield* signal("TERM", end, TERM_LIMIT)
  const terminated = end.filter(({ pid }) => !stubborn.has(pid))

  const known = [...end]
  const killed: Array<ProcessRecord> = []
  let now = yield* snapshot(options.bin)
  let plan = planSweep(now, { ...rule, roots: [...rule.roots, ...known] })
  for (let round = 0; round < KILL_ROUNDS && plan.end.length > 0; round++) {
    known.push(...plan.end)
    const left = yield* signal("KILL", plan.end, KILL_LIMIT)
    killed.push(...plan.end.filter(({ pid }) => !left.has(pid)))
    now = yield* snapshot(options.bin)
    plan = planSweep(now, { ...rule, roots: [...rule.roots, ...known] })
  }

  const waiting = parentsOf(before.processes, rule.roots, plan.spared)
  if (waiting.length > 0) {
    yield* signal("0", waiting, FAREWELL_LIMIT)
    plan = planSweep(yield* snapshot(options.bin), { ...rule, roots: [...rule.roots, ...known] })
  }
  return {
    terminated: terminated.map(describe),
    killed: killed.map(describe),
    survivors: plan.end.map(describe),
    spared: yield* describeSpared(plan.spared)
  }
})

const snapshot = Effect.fnUntraced(function* (bin: string) {
  const environment = yield* EnvironmentService
  const marker = yield* randomMarker
  const { stdout } = yield* environment.exec(snapshotScript(marker, bin), { cwd: "/", maxOutputBytes: SNAPSHOT_BYTES })
  return parseSnapshot(marker, bin, stdout)
})

/** Every process's arguments, of which one alone may be large. */
const SNAPSHOT_BYTES = 64 * 1024 * 1024

/** Returns the pids of what is still there after the limit. */
const signal = Effect.fnUntraced(function* (
  name: "TERM" | "KILL" | "0",
  processes: ReadonlyArray<ProcessIdentity>,
  limit: Duration.Duration
) {
  if (processes.length === 0) return new Set<number>()
  const environment = yield* EnvironmentService
  const { stdout } = yield* environment.exec(signalScript(name, processes, Duration.toMillis(limit)), { cwd: "/" })
  return new Set(
    stdout
      .split("\n")
      .filter((line) => line !== "")
      .map(Number)
  )
})

/** Parents of launched processes that are still there: each will go by itself when it has noticed. */
const parentsOf = (
  processes: ReadonlyArray<ProcessRecord>,
  roots: ReadonlyArray<SweepRoot>,
  spared: ReadonlyArray<ProcessRecord>
): ReadonlyArray<ProcessRecord> => {
  const parents = new Set(processes.filter(({ pid }) => roots.some((root) => root.pid === pid)).map(({ ppid }) => ppid))
  return spared.filter(({ pid }) => parents.has(pid))
}

const describe = ({ argv, exe, pid }: ProcessRecord): SweptProcess => {
  const command = argv.length > 0 ? argv.join(" ") : (exe ?? "?")
  return { pid, command: command.slice(0, COMMAND_CHARACTERS) }
}

const describeSpared = Effect.fnUntraced(function* (processes: ReadonlyArray<ProcessRecord>) {
  if (processes.length === 0) return []
  const environment = yield* EnvironmentService
  const { stdout } = yield* environment.exec(portsScript(processes.map(({ pid }) => pid)), { cwd: "/" })
  const ports = parsePorts(stdout)
  return processes.map((process): SparedProcess => ({ ...describe(process), ports: ports.get(process.pid) ?? [] }))
})
