/**
 * The last lines of a trial: how it ended, what it took, what is left, where the bundle is, what to type next. Pure.
 */
import { SUMMARY, TRANSCRIPT } from "@buzz-orchestra/runtime/BundleFiles"
import type { SweptProcess } from "@buzz-orchestra/runtime/TrialEvent"
import type { StopSignal } from "./ExitCode.ts"
import { type Failure, lines as failureLines } from "./Failure.ts"
import { clip, count, duration, oneLine } from "./internal/terminalText.ts"
import { INTERRUPTED, type LiveModel, tokens } from "./LiveView.ts"
import type { Style } from "./Style.ts"

/** How the trial came back to the command. */
export type Ended =
  | { readonly _tag: "Returned" }
  | { readonly _tag: "Failed"; readonly failure: Failure }
  | { readonly _tag: "Stopped"; readonly signal: StopSignal | undefined }

/** What the last lines are made of. */
export interface EndFacts {
  readonly ended: Ended
  /** The trial directory, as the person may type it. */
  readonly directory: string
  /** What to type to run this command again, without its arguments. */
  readonly command: string
  readonly style: Style
}

/** Processes listed by name; the summary has all of them. */
const LISTED_PROCESSES = 5

/** Columns of a command that is listed. */
const COMMAND_COLUMNS = 100

/** The last lines of a trial, the first of them saying how it ended. */
export const endLines = (model: LiveModel, facts: EndFacts): ReadonlyArray<string> => [
  "",
  ...headLines(model, facts),
  ...row("phases", phasesText(model)),
  ...row("tokens", tokensText(model)),
  ...row("cost", costText(model)),
  ...sweptLines(model),
  ...row("bundle", facts.directory),
  `${facts.style.bold("next:")}     ${nextText(model, facts)}`
]

const headLines = (model: LiveModel, { ended, style }: EndFacts): ReadonlyArray<string> => {
  if (ended._tag === "Failed") return failureLines({ ...ended.failure, next: "" }, style)
  if (ended._tag === "Stopped") {
    const by = ended.signal === undefined ? "" : `: stopped by ${ended.signal}`
    return [`${style.bad("interrupted")}${by}`]
  }
  const outcome = model.outcome
  if (outcome === undefined) return [style.bad("the trial ended without an outcome")]
  const paint = outcome.outcome === "done" ? style.good : style.bad
  return [`${paint(outcome.outcome)}: ${oneLine(outcome.detail)}`]
}

const row = (name: string, text: string): ReadonlyArray<string> => (text === "" ? [] : [`${name.padEnd(8)}  ${text}`])

const phasesText = (model: LiveModel): string => {
  const parts = model.ended.map(({ error, millis, phase }) =>
    error === undefined
      ? `${phase} ${duration(millis)}`
      : `${phase} ${duration(millis)} (${error === INTERRUPTED ? INTERRUPTED : "failed"})`
  )
  const total = model.trial === undefined || model.end === undefined ? [] : [model.end.at - model.trial.startedAt]
  return [parts.join(", "), ...total.map((millis) => `${duration(millis)} in all`)].filter(Boolean).join("; ")
}

const tokensText = (model: LiveModel): string => {
  const sum = tokens(model)
  if (sum === undefined) return model.agents.length === 0 ? "" : "not reported"
  const silent = model.agents.filter((agent) => agent.tokens === undefined).map((agent) => agent.agentId)
  return count(sum) + (silent.length === 0 ? "" : ` (not reported by ${silent.join(", ")})`)
}

/** Nothing for a trial whose agents were never woken: it cost nothing, and other lines say why. */
const costText = ({ cost }: LiveModel): string => {
  if (cost === undefined || (cost.costUsd === 0 && !cost.reconciled)) return ""
  const { atLeastUsd, costUsd, note, reconciled } = cost
  if (costUsd === undefined) return `unknown, at least ${dollars(atLeastUsd)}: ${oneLine(note)}`
  return reconciled ? dollars(costUsd) : `at least ${dollars(costUsd)}: ${oneLine(note)}`
}

/** Four places are enough for a person; of less, two digits. */
const dollars = (usd: number): string => `${usd >= 0.01 ? Number(usd.toFixed(4)) : Number(usd.toPrecision(2))} USD`

const sweptLines = (model: LiveModel): ReadonlyArray<string> => {
  if (model.swept === undefined) return []
  const { spared, survivors } = model.swept
  return [
    ...(survivors.length === 0
      ? row("stopped", "every process of the stack is gone")
      : row("survived", processesText(survivors))),
    ...(spared.length === 0 ? [] : row("spared", processesText(spared)))
  ]
}

const processesText = (processes: ReadonlyArray<SweptProcess>): string => {
  const listed = processes
    .slice(0, LISTED_PROCESSES)
    .map(({ command, pid }) => `${pid} ${clip(oneLine(command), COMMAND_COLUMNS)}`)
  const more = processes.length - listed.length
  return listed.join("; ") + (more > 0 ? `; and ${more} more` : "")
}

/** One command, or one sentence, that helps most after this end. */
const nextText = (model: LiveModel, { command, directory, ended }: EndFacts): string => {
  const inTrial = (file: string) => `${directory}/${file}`
  if (ended._tag === "Failed") return ended.failure.next
  const show = `${command} show ${quote(directory)}`
  if (ended._tag === "Stopped") return show
  switch (model.outcome?.outcome) {
    case "quiescent": {
      const orchestrator = model.agents[0]?.agentId ?? "*"
      return `nobody was mentioned any more; read why in ${quote(inTrial(TRANSCRIPT))}, or in the log of ${orchestrator}`
    }
    case "timed-out":
      return `see who was still working in ${quote(inTrial(SUMMARY))}; the limit is trial_budget.timeout_seconds of the manifest`
    case "over-budget":
      return `see who used how much in ${quote(inTrial(SUMMARY))}; the limits are the budget of each class and trial_budget.max_cost_usd of the manifest`
    case "done":
    case "stopped-without-done":
    case "interrupted":
    case undefined:
      return show
  }
}

/** Safe to paste into a POSIX shell. */
const quote = (path: string): string => (/^[\w./+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)
