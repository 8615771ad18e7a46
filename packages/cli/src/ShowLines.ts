/**
 * A trial that is over, on one screen. Pure.
 */
import { TRANSCRIPT } from "@buzz-orchestra/runtime/BundleFiles"
import { age, clip, count, duration, oneLine, padEnd, padStart, width } from "./internal/terminalText.ts"
import type { Style } from "./Style.ts"
import type { TrialReport } from "./TrialReport.ts"

/** Where it is shown. */
export interface ShowFrame {
  readonly columns: number
  readonly style: Style
}

/** Messages shown: the first and the last of them. */
const HEAD_MESSAGES = 3
const TAIL_MESSAGES = 9
/** Anomalies shown; the JSON has all. */
const ANOMALIES = 8

/** The lines, none wider than the terminal. */
export const showLines = (report: TrialReport, frame: ShowFrame): ReadonlyArray<string> =>
  [
    ...headLines(report, frame),
    "",
    ...agentLines(report, frame),
    "",
    ...messageLines(report, frame),
    "",
    ...footLines(report, frame)
  ].map((line) => line.trimEnd())

const headLines = (report: TrialReport, { columns, style }: ShowFrame): ReadonlyArray<string> => {
  const { condition, detail, error, manifest_sha256, outcome, reward, seconds, started_at, verdict } = report
  const paint = outcome === "done" ? style.good : style.bad
  const graded = reward === null ? "" : `, reward ${reward}`
  const title = `${style.bold(oneLine(condition))} ${style.dim(manifest_sha256.slice(0, 16))}`
  const when = started_at === null ? "" : `, ${started_at}, ${duration(seconds * 1000)}`
  return [
    `${title}${style.dim(clip(when, Math.max(0, columns - width(`${oneLine(condition)} `) - 16)))}`,
    `${paint(outcome ?? "no outcome")}${verdict === null ? "" : ` (${verdict}${graded})`}: ${clip(oneLine(detail), Math.max(20, columns - 40))}`,
    ...(error === null ? [] : [clip(`${error.phase}: ${error.reason}`, columns)])
  ]
}

const agentLines = ({ agents }: TrialReport, { columns, style }: ShowFrame): ReadonlyArray<string> => {
  if (agents.length === 0) return ["no agent was provisioned"]
  const rows = agents.map((agent) => [
    agent.agent_id,
    agent.role,
    agent.state,
    plural(agent.turns, "turn"),
    plural(agent.messages, "message"),
    tokensText(agent.input_tokens, agent.output_tokens),
    agent.cost_usd === null ? "cost unknown" : usd(agent.cost_usd)
  ])
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => width(row[column] ?? ""))))
  return rows.map(([name = "", ...cells]) => {
    const rest = cells.map((cell, index) =>
      index < 2 ? padEnd(cell, widths[index + 1] ?? 0) : padStart(cell, widths[index + 1] ?? 0)
    )
    return `${style.bold(padEnd(name, widths[0] ?? 0))}  ${clip(rest.join("  "), Math.max(10, columns - (widths[0] ?? 0) - 2))}`
  })
}

const tokensText = (input: number | null, output: number | null): string =>
  input === null && output === null ? "tokens unknown" : `${spoken(input)} in ${spoken(output)} out`

const spoken = (tokens: number | null): string => (tokens === null ? "?" : count(tokens))

/** Fractions of a cent matter where many trials add up. */
const usd = (amount: number | null): string => (amount === null ? "unknown" : `$${amount.toFixed(4)}`)

const plural = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`

const messageLines = ({ messages }: TrialReport, { columns, style }: ShowFrame): ReadonlyArray<string> => {
  if (messages.length === 0) return ["nobody said anything"]
  const limit = HEAD_MESSAGES + TAIL_MESSAGES
  const shown = messages.map(({ at, author, content, to }) => {
    const head = `${padStart(at === null ? "" : age(at * 1000), 10)}  ${oneLine(author)}${to.length === 0 ? "" : ` → ${to.map(oneLine).join(", ")}`}: `
    return `${style.dim(head)}${clip(oneLine(content), Math.max(10, columns - width(head)))}`
  })
  if (shown.length <= limit) return shown
  const hidden = shown.length - limit
  return [
    ...shown.slice(0, HEAD_MESSAGES),
    style.dim(`            … ${hidden} more; all of them in ${TRANSCRIPT}`),
    ...shown.slice(-TAIL_MESSAGES)
  ]
}

const footLines = (report: TrialReport, { columns, style }: ShowFrame): ReadonlyArray<string> => {
  const { anomalies, cost_at_least_usd, cost_usd, phases } = report
  const cost =
    cost_usd === null && cost_at_least_usd !== null ? `not known, at least ${usd(cost_at_least_usd)}` : usd(cost_usd)
  const cached = report.cached_tokens === null ? "" : `, ${count(report.cached_tokens)} cached`
  const times = phases.map(
    ({ error, phase, seconds }) => `${phase} ${duration(seconds * 1000)}${error === null ? "" : " (failed)"}`
  )
  const row = (name: string, text: string) => `${name.padEnd(10)}${clip(text, Math.max(10, columns - 10))}`
  const shown = anomalies.slice(0, ANOMALIES)
  return [
    row("cost", `${cost}; ${tokensText(report.input_tokens, report.output_tokens)}${cached}`),
    row("phases", times.join(", ")),
    row("place", oneLine(report.environment)),
    ...(shown.length === 0
      ? [row("anomalies", "none")]
      : shown.map((text, index) => style.bad(row(index === 0 ? "anomalies" : "", oneLine(text))))),
    ...(anomalies.length > shown.length ? [row("", `… and ${anomalies.length - shown.length} more, with --json`)] : []),
    row("bundle", report.directory)
  ]
}
