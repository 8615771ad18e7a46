/**
 * What happens after a trial, however it ended: settle, sweep, collect. Each step has its own deadline, none can stop the
 * next, and each result is recorded.
 */
import { Duration, Effect, Exit, Option, Ref } from "effect"
import type { Supervision } from "../AgentSupervisor.ts"
import * as Redaction from "../Redaction.ts"
import type { InstalledStack } from "../StackInstaller.ts"
import * as TeamState from "../TeamState.ts"
import type { TrialRun } from "../TrialRuntime.ts"
import { collectArtifacts } from "./collectArtifacts.ts"
import { collectLogs } from "./collectLogs.ts"
import { accountsOf } from "./accountsOf.ts"
import { KEEP_ACCOUNTS, keepAccounts } from "./keepAccounts.ts"
import { keepEvidence } from "./keepEvidence.ts"
import { keepTrajectory, TRAJECTORY_DEADLINE, WRITE_TRAJECTORY } from "./keepTrajectory.ts"
import { noteInterruption } from "./noteInterruption.ts"
import { first } from "./stackWatch.ts"
import type { Stage } from "./stage.ts"
import { agentSummaries } from "./summarize.ts"
import { sweepStack } from "./sweepStack.ts"

/** Who interrupts a trial does not want to wait for the last of the numbers. */
export const INTERRUPTED_SETTLE = Duration.seconds(2)
/** TERM takes at most 2 s, KILL and verifying less; the rest is for an environment that answers to nothing: all calls have limits. */
export const SWEEP_DEADLINE = Duration.seconds(90)
/** Normally nothing is left to copy. */
export const LOGS_DEADLINE = Duration.seconds(60)
/** Logs that had to be fetched are read once more. */
export const ACCOUNTS_DEADLINE = Duration.seconds(60)
interface CleanUp {
  readonly run: TrialRun
  readonly stage: Stage
  readonly redactor: Redaction.Redactor
}

/** Never fails, and cannot be interrupted: it ends by its deadlines. */
export const cleanUp = Effect.fnUntraced(function* (
  run: TrialRun,
  stageRef: Ref.Ref<Stage>,
  redactor: Redaction.Redactor,
  exit: Exit.Exit<unknown, unknown>
) {
  const { handle, record } = run
  yield* noteInterruption(record, exit)
  const stage = yield* Ref.get(stageRef)
  const clean: CleanUp = { run, stage, redactor }
  const { stack, supervision } = stage
  if (supervision !== undefined) yield* record.phase("settle", settle(clean, supervision, exit))
  const team = supervision === undefined ? undefined : yield* supervision.state
  yield* record.learn({ agents: agentSummaries(handle, team) })
  if (stack !== undefined) yield* record.phase("sweep", sweep(clean, stack))
  yield* record.phase("collect", collect(clean))
})

/** Waits for usage that is still to come. Agents that were never woken owe nothing. */
const settle = Effect.fnUntraced(function* (
  { run, stage }: CleanUp,
  supervision: Supervision,
  exit: Exit.Exit<unknown, unknown>
) {
  const { record, trial } = run
  const limit = Exit.hasInterrupts(exit) ? Duration.min(trial.settleTimeout, INTERRUPTED_SETTLE) : trial.settleTimeout
  const owing = (team: TeamState.TeamState) => TeamState.owing(team, stage.finishing)
  const settled = first(supervision.changes, (team) => (owing(team).length === 0 ? Option.some(team) : Option.none()))
  const waiting = Effect.gen(function* () {
    const agents = owing(yield* supervision.state)
    if (agents.length === 0) return
    const sentence = `waiting for the usage of ${agents.join(", ")}`
    yield* record.publish({ _tag: "Waiting", sentence, deadlineAt: undefined })
    if (Option.isSome(yield* Effect.timeoutOption(Effect.raceFirst(settled, supervision.lost), limit))) return
    yield* record.publish({ _tag: "DeadlinePassed", what: "settle", millis: Duration.toMillis(limit) })
    const late = owing(yield* supervision.state)
    yield* record.warn(`${late.join(", ")} did not report the usage of a turn within ${Duration.format(limit)}`)
  })
  yield* record.step("settle", Duration.sum(limit, Duration.seconds(1)), waiting)
})

const sweep = Effect.fnUntraced(function* ({ redactor, run, stage }: CleanUp, stack: InstalledStack) {
  const { record, trial } = run
  const { supervision, users = [] } = stage
  if (supervision !== undefined) yield* supervision.expectEnds
  const all = trial.options.sweep === "all"
  const keepForwarder = trial.options.forwarder?.keep === true
  const warn = (trouble: string) => record.warn(`sweep: ${trouble}`)
  const swept = yield* record.step(
    "sweep",
    SWEEP_DEADLINE,
    sweepStack({ stack, supervision, users, all, keepForwarder, warn })
  )
  if (Option.isNone(swept)) return
  const shown = <P extends { readonly command: string }>(process: P): P => ({
    ...process,
    command: Redaction.apply(redactor, process.command)
  })
  const [survivors, spared] = [swept.value.survivors.map(shown), swept.value.spared.map(shown)]
  yield* record.learn({ sweep: { survivors, spared } })
  yield* record.publish({ _tag: "Swept", survivors, spared })
  if (survivors.length > 0)
    yield* record.warn(`the sweep left processes alive: ${survivors.map(({ pid }) => pid).join(", ")}`)
})

const collect = Effect.fnUntraced(function* (clean: CleanUp) {
  const { redactor, run, stage } = clean
  const { record } = run
  const { channel, supervision } = stage
  const logs = yield* fetchLogs(clean)
  // Whoever is ended may have had something to report even then.
  const team = supervision === undefined ? undefined : yield* supervision.state
  yield* account(clean, team, logs)
  if (channel !== undefined) yield* keepEvidence({ run, redactor, channel, actor: stage.actor })
  const events = channel === undefined ? [] : (yield* channel.seen).events
  const redact = (text: string) => Redaction.apply(redactor, text)
  const { options } = run.trial
  const trajectory = keepTrajectory({ options, record, directory: run.directory, events, redact })
  yield* record.step(WRITE_TRAJECTORY, TRAJECTORY_DEADLINE, trajectory)
  // Before that nobody had anything to do, and nothing is there.
  if (channel !== undefined) yield* collectArtifacts(run, redactor)
})

const account = Effect.fnUntraced(function* (
  { run }: CleanUp,
  team: TeamState.TeamState | undefined,
  logs: Effect.Success<ReturnType<typeof fetchLogs>>
) {
  const { handle, record, trial } = run
  yield* record.step(KEEP_ACCOUNTS, ACCOUNTS_DEADLINE, keepAccounts(run, { team, ...logs }))
  const { accounts, cleanup } = yield* record.facts
  // Logs that cannot be read do not cost what was heard of them.
  const trouble = cleanup.find(({ step }) => step === KEEP_ACCOUNTS)?.error ?? "not read"
  const { manifest } = trial.options.condition
  const drawn = accounts ?? accountsOf(handle, manifest, team?.agents ?? new Map(), trouble)
  yield* record.learn({ accounts: drawn })
  const { at_least, note, reconciled } = drawn.accounting
  const costUsd = drawn.totals.cost_usd ?? undefined
  yield* record.publish({ _tag: "Accounted", costUsd, atLeastUsd: at_least.cost_usd, reconciled, note })
})

const fetchLogs = Effect.fnUntraced(function* ({ redactor, run, stage }: CleanUp) {
  const { directory, record } = run
  const { capture, stack, supervision } = stage
  const nothing: ReadonlySet<string> = new Set()
  if (stack === undefined || capture === undefined || supervision === undefined)
    return { fetched: nothing, trouble: undefined }
  const options = { layout: stack.layout, capture, supervision, directory, redactor, warn: record.warn }
  const fetched = yield* record.step(COLLECT_LOGS, LOGS_DEADLINE, collectLogs(options))
  if (Option.isSome(fetched)) return { fetched: fetched.value, trouble: undefined }
  const { cleanup } = yield* record.facts
  return { fetched: nothing, trouble: cleanup.find(({ step }) => step === COLLECT_LOGS)?.error ?? "not collected" }
})

const COLLECT_LOGS = "collect logs"
