/**
 * Ends the stack's processes in an environment: TERM, wait until they are gone, KILL what is not, look again. What belongs
 * to the stack is decided in `SweepPlan`; what is run inside is in `internal/sweepScript`.
 */
import { Duration, Effect } from "effect"
import type { AgentUser } from "./AgentUsers.ts"
import type { EnvironmentError } from "./EnvironmentError.ts"
import type { EnvironmentService } from "./EnvironmentService.ts"
import * as SweepCalls from "./internal/sweepCalls.ts"
import type { ProcessIdentity } from "./internal/sweepScript.ts"
import type { SweptProcess } from "./TrialEvent.ts"
import {
  bornSince,
  planSweep,
  type ProcessRecord,
  type ProcessSnapshot,
  type SweepPlanOptions,
  type SweepRoot
} from "./SweepPlan.ts"
import { isDeadState } from "./WatchEvent.ts"

/** What belongs to the stack, and what is ended beyond it. */
export interface SweepOptions {
  /** What was launched. */
  readonly roots: ReadonlyArray<SweepRoot>
  /** The layout's `bin`. */
  readonly bin: string
  /** Default false. */
  readonly all?: boolean
  /** Pids left alone, such as the forwarder's while somebody still needs it. */
  readonly spare?: ReadonlyArray<number>
  /** The agents' own users, where they have some: what runs where is told only to them. */
  readonly users?: ReadonlyArray<AgentUser>
  /** Told of each call that did not work; the report is true all the same. Default: the log. */
  readonly warn?: (trouble: string) => Effect.Effect<void>
}

/** A process that was left alone. */
export interface SparedProcess extends SweptProcess {
  /** TCP ports it listens on, where the environment tells. */
  readonly ports: ReadonlyArray<number>
}

/** What became of every process that a sweep ended or met. */
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
 * Ends everything of the stack. A process that cannot be ended is a survivor, not an error. A call that fails or hangs stops
 * neither TERM nor KILL: what cannot be seen is ended by what is known of it. Fails only when nobody can tell at last what is
 * left. Takes as long as the slowest process, at most about 6 s where the environment answers.
 */
export const sweep = Effect.fn("Sweep.sweep")(function* (
  options: SweepOptions
): Effect.fn.Return<SweepReport, EnvironmentError, EnvironmentService> {
  const rule: SweepPlanOptions = { roots: options.roots, all: options.all ?? false, spare: options.spare ?? [] }
  const becoming = (options.users ?? []).map(({ become }) => become)
  const calls = yield* SweepCalls.make(options.bin, options.warn ?? Effect.logWarning, becoming)
  const before = yield* calls.look
  const known = [...targets(before, rule)]
  yield* calls.signal("TERM", known, TERM_LIMIT)
  const after = yield* calls.look

  let now = after
  const ruleNow = (): SweepPlanOptions => {
    const born = before === undefined || now === undefined ? [] : bornSince(before, now, known)
    return { ...rule, roots: [...rule.roots, ...known, ...born] }
  }
  for (let round = 0; round < KILL_ROUNDS; round++) {
    const left = targets(now, ruleNow())
    // Whoever sees nothing has nothing to kill a second time.
    if (left.length === 0 || (now === undefined && round > 0)) break
    known.push(...left)
    yield* calls.signal("KILL", left, KILL_LIMIT)
    now = yield* calls.look
  }
  if (before !== undefined && now !== undefined) {
    const waiting = parentsOf(before.processes, rule.roots, planSweep(now, ruleNow()).spared)
    yield* calls.signal("0", waiting, FAREWELL_LIMIT)
    if (waiting.length > 0) now = yield* calls.look
  }
  if (now === undefined) return yield* calls.lastError
  const { end, spared } = planSweep(now, ruleNow())
  const [last, seenAfter] = [now, after?.processes ?? []]
  return {
    terminated: after === undefined ? [] : gone(before?.processes ?? [], known, after).map(describe),
    killed: gone(seenAfter, known, last).map(describe),
    survivors: end.map(describe),
    spared: describeSpared(spared, yield* calls.ports(spared))
  }
})

/** What is to be ended; of an environment that shows nothing, whatever was launched. */
const targets = (seen: ProcessSnapshot | undefined, rule: SweepPlanOptions): ReadonlyArray<ProcessIdentity> => {
  if (seen !== undefined) return planSweep(seen, rule).end
  const launched = rule.roots.flatMap(({ pid, startTime }) =>
    startTime === undefined || rule.spare.includes(pid) ? [] : [{ pid, startTime }]
  )
  return launched.filter((one, index) => launched.findIndex((other) => isSame(one, other)) === index)
}

/** Those that were to be ended and are there no more. */
const gone = (
  processes: ReadonlyArray<ProcessRecord>,
  ended: ReadonlyArray<ProcessIdentity>,
  { processes: left }: ProcessSnapshot
): ReadonlyArray<ProcessRecord> =>
  processes.filter(
    (process) =>
      !isDeadState(process.state) &&
      ended.some((one) => isSame(one, process)) &&
      !left.some((one) => isSame(one, process) && !isDeadState(one.state))
  )

const isSame = (a: ProcessIdentity, b: ProcessIdentity): boolean => a.pid === b.pid && a.startTime === b.startTime

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

const describeSpared = (
  processes: ReadonlyArray<ProcessRecord>,
  ports: ReadonlyMap<number, ReadonlyArray<number>>
): ReadonlyArray<SparedProcess> =>
  processes.map((process) => ({ ...describe(process), ports: ports.get(process.pid) ?? [] }))
