/**
 * A trial that is over, as one page that needs nothing else: no script, no request, readable on a phone, light and dark. Pure.
 *
 * Everything that others wrote is escaped, and the page's own policy forbids it to load or run anything.
 */
import { count, duration } from "./internal/terminalText.ts"
import { PAGE_STYLE } from "./internal/pageStyle.ts"
import type { ReportedAgent, ReportedMessage, TrialReport } from "./TrialReport.ts"

/** The page, whole. */
export const showPage = (report: TrialReport): string => {
  const title = `${report.condition}: ${report.outcome ?? "no outcome"}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<title>${text(title)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
${[header(report), timeline(report), costs(report), transcript(report), anomalies(report)].join("\n")}
</main>
</body>
</html>
`
}

/** Text of others, as text: no mark-up, and no control character but the line feed. */
const text = (value: string): string =>
  value
    .replaceAll(/[^\P{Cc}\n\t]/gu, "")
    .replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;")

const header = (report: TrialReport): string => {
  const { detail, error, outcome, reward, verdict } = report
  const facts = [
    ["verdict", verdict === null ? "unknown" : `${verdict}${reward === null ? "" : ` (reward ${reward})`}`],
    ["time", duration(report.seconds * 1000)],
    ["cost", usd(report.cost_usd)],
    ["tokens", `${tokens(report.input_tokens)} in, ${tokens(report.output_tokens)} out`],
    ["started", report.started_at ?? "unknown"],
    ["environment", report.environment],
    ["manifest", report.manifest_sha256],
    ["trial", report.trial_id]
  ] as const
  const rows = facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${text(value)}</dd></div>`)
  const failure = error === null ? "" : `<p class="bad">${text(`${error.phase}: ${error.message}`)}</p>`
  return `<header>
<h1>${text(report.condition)}</h1>
<p class="outcome ${outcome === "done" ? "good" : "bad"}">${text(outcome ?? "no outcome")}</p>
<p>${text(detail)}</p>${failure}
<dl class="facts">${rows.join("")}</dl>
</header>`
}

const usd = (amount: number | null): string => (amount === null ? "unknown" : `$${amount.toFixed(4)}`)

const tokens = (n: number | null): string => (n === null ? "unknown" : count(n))

/** Everybody who has a row, with the colour of that row. */
const peopleOf = ({ agents, messages }: TrialReport): ReadonlyArray<string> => {
  const known = agents.map(({ agent_id }) => agent_id)
  return [...new Set([...messages.map(({ author }) => author).filter((name) => !known.includes(name)), ...known])]
}

const COLOURS = 8

const colourOf = (report: TrialReport, name: string): string =>
  `c${Math.max(0, peopleOf(report).indexOf(name)) % COLOURS}`

const timeline = (report: TrialReport): string => {
  const { messages, seconds, turns } = report
  const whole = Math.max(seconds, 0.001)
  const place = (at: number) => `${Math.min(100, (100 * at) / whole).toFixed(2)}%`
  const rows = peopleOf(report).map((name) => {
    const bars = turns
      .filter(({ agent_id }) => agent_id === name)
      .map(({ from, to, turn }) => {
        const title = `turn ${turn}: ${duration(from * 1000)} to ${duration(to * 1000)}`
        return `<span class="turn" style="left:${place(from)};width:${place(Math.max(to - from, 0))}" title="${title}"></span>`
      })
    const marks = messages
      .filter(({ at, author }) => author === name && at !== null)
      .map((message) => {
        const title = text(`${stamp(message)} ${message.content.slice(0, 120)}`)
        return `<a class="mark" href="#m-${text(message.id)}" style="left:${place(message.at ?? 0)}" title="${title}"></a>`
      })
    const label = `<span class="name">${text(name)}</span>`
    return `<div class="row ${colourOf(report, name)}">${label}<div class="track">${bars.join("")}${marks.join("")}</div></div>`
  })
  const scale = [0, 0.25, 0.5, 0.75, 1].map((part) => `<span>${duration(part * seconds * 1000)}</span>`)
  return `<section aria-labelledby="timeline"><h2 id="timeline">Timeline</h2>
<p class="note">Bars are turns, dots are messages.</p>
${rows.join("\n")}
<div class="row scale"><span class="name"></span><div class="ticks">${scale.join("")}</div></div>
</section>`
}

const costs = (report: TrialReport): string => {
  const most = Math.max(0, ...report.agents.map(({ cost_usd }) => cost_usd ?? 0))
  const rows = report.agents.map((agent) => costRow(report, agent, most))
  const unknown =
    report.cost_usd === null ? ` <span class="note">(at least ${usd(report.cost_at_least_usd)})</span>` : ""
  return `<section aria-labelledby="cost"><h2 id="cost">Cost by agent</h2>
<div class="scroll"><table>
<thead><tr><th>agent</th><th>cost</th><th>in</th><th>cached</th><th>out</th><th>turns</th><th>messages</th><th>role</th><th>state</th></tr></thead>
<tbody>${rows.join("\n")}</tbody>
<tfoot><tr><th scope="row">all</th><td>${usd(report.cost_usd)}${unknown}</td><td>${tokens(report.input_tokens)}</td><td>${tokens(report.cached_tokens)}</td><td>${tokens(report.output_tokens)}</td><td></td><td>${report.messages.length}</td><td></td><td></td></tr></tfoot>
</table></div>
</section>`
}

const costRow = (report: TrialReport, agent: ReportedAgent, most: number): string => {
  const share = most === 0 ? 0 : (100 * (agent.cost_usd ?? 0)) / most
  const counts = [tokens(agent.input_tokens), tokens(agent.cached_tokens), tokens(agent.output_tokens)]
  const cells = [...counts, agent.turns, agent.messages, agent.role, agent.state].map((cell) => text(String(cell)))
  const bar = `<span class="bar" style="width:${share.toFixed(1)}%"></span>`
  return `<tr class="${colourOf(report, agent.agent_id)}"><th scope="row">${text(agent.agent_id)}</th><td>${usd(agent.cost_usd)}${bar}</td>${cells
    .map((cell) => `<td>${cell}</td>`)
    .join("")}</tr>`
}

/** Deeper replies stand no further right, or a phone would have no room for them. */
const MOST_DEPTH = 4

const transcript = (report: TrialReport): string => {
  const ids = new Set(report.messages.map(({ id }) => id))
  const replies = new Map<string, Array<ReportedMessage>>()
  const roots: Array<ReportedMessage> = []
  for (const message of report.messages) {
    const { reply_to } = message
    if (reply_to === null || !ids.has(reply_to)) roots.push(message)
    else replies.set(reply_to, [...(replies.get(reply_to) ?? []), message])
  }
  const shown = new Set<string>()
  const thread = (message: ReportedMessage, depth: number): ReadonlyArray<string> => {
    // A reply to itself, or in a circle, is shown once.
    if (shown.has(message.id)) return []
    shown.add(message.id)
    const below = (replies.get(message.id) ?? []).flatMap((reply) => thread(reply, depth + 1))
    return [article(report, message, Math.min(depth, MOST_DEPTH)), ...below]
  }
  const all = roots.flatMap((root) => thread(root, 0))
  const circles = report.messages.flatMap((message) => thread(message, 0))
  const body = [...all, ...circles].join("\n") || `<p class="note">Nobody said anything.</p>`
  return `<section aria-labelledby="transcript"><h2 id="transcript">Transcript</h2>
${body}
</section>`
}

const stamp = ({ at }: ReportedMessage): string => (at === null ? "" : duration(at * 1000))

const article = (report: TrialReport, message: ReportedMessage, depth: number): string => {
  const to = message.to.length === 0 ? "" : ` <span class="note">to ${text(message.to.join(", "))}</span>`
  const head = `<strong>${text(message.author)}</strong>${to} <span class="note">${stamp(message)}</span>`
  return `<article id="m-${text(message.id)}" class="d${depth} ${colourOf(report, message.author)}"><p class="head">${head}</p><p class="said">${text(message.content)}</p></article>`
}

const anomalies = ({ anomalies }: TrialReport): string => {
  const items = anomalies.map((line) => `<li>${text(line)}</li>`)
  const body = items.length === 0 ? `<p class="note">None.</p>` : `<ul>${items.join("")}</ul>`
  return `<section aria-labelledby="anomalies"><h2 id="anomalies">Anomalies</h2>
${body}
</section>`
}
