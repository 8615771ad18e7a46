/**
 * The live block: model → lines, as wide as the terminal and never longer than it. Pure; `Screen` repaints it in place.
 */
import type { AgentView } from "@buzz-orchestra/runtime/TrialEvent"
import { age, clip, count, oneLine, padEnd, padStart, width, wrap } from "./internal/terminalText.ts"
import { type AgentRow, type LiveModel, tokens } from "./LiveView.ts"
import type { Style } from "./Style.ts"

/** Where and when the block is shown. */
export interface Frame {
  readonly columns: number
  readonly rows: number
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly style: Style
}

/** Lines that the sentence may take: it names every agent, and teams are small. */
const WAITING_LINES = 3

/** Lines for everything but the agents: header, last message, waiting. */
const OTHER_LINES = 2 + WAITING_LINES

/** The block for `model` at `frame.now`. No line is wider than `frame.columns`; there are fewer lines than `frame.rows`. */
export const render = (model: LiveModel, frame: Frame): ReadonlyArray<string> => {
  if (model.trial === undefined) return [clip("preparing …", frame.columns)]
  const lines = [
    headLine(model, frame),
    ...agentLines(model, frame),
    messageLine(model, frame),
    ...wrap(oneLine(model.waiting?.sentence ?? ""), frame.columns, WAITING_LINES)
  ]
  return lines.slice(0, Math.max(1, frame.rows - 1))
}

/** An agent's state in words, such as `in turn 2 for 12 s`. */
export const stateText = (view: AgentView, now: number): string => {
  switch (view._tag) {
    case "Starting":
      return "starting"
    case "Ready":
      return "ready"
    case "InTurn":
      return `in turn ${view.turn} for ${age(now - view.sinceMillis)}`
    case "Idle":
      return `idle after ${turns(view.turns)}`
    case "Requeued":
      return `requeued after ${turns(view.turns)}: ${oneLine(view.detail)}`
    case "Dead":
      return `dead: ${oneLine(view.detail)}`
  }
}

const turns = (n: number): string => (n === 1 ? "1 turn" : `${n} turns`)

/** How a state is set off: what works, what rests, what is gone. */
export const stateStyle = (view: AgentView, style: Style): ((text: string) => string) => {
  switch (view._tag) {
    case "InTurn":
      return style.busy
    case "Ready":
      return style.good
    case "Dead":
      return style.bad
    case "Requeued":
      return style.bold
    case "Starting":
    case "Idle":
      return style.dim
  }
}

const headLine = (model: LiveModel, frame: Frame): string => {
  const condition = oneLine(model.trial?.condition ?? "")
  const phase = model.open.at(-1)
  const where = phase === undefined ? "" : `${phase.phase} for ${age(frame.now - phase.since)}`
  const sum = tokens(model)
  const deadline = model.waiting?.deadlineAt
  const right = [
    ...(sum === undefined ? [] : [`${count(sum)} tokens`]),
    ...(deadline === undefined ? [] : [`${age(deadline - frame.now)} left`])
  ].join(", ")
  return spread(
    { text: `${condition}  ${where}`, paint: (text) => frame.style.bold(text) },
    { text: right, paint: frame.style.dim },
    frame.columns
  )
}

const agentLines = (model: LiveModel, frame: Frame): ReadonlyArray<string> => {
  const room = Math.max(1, frame.rows - 1 - OTHER_LINES)
  const shown = model.agents.length <= room ? model.agents : model.agents.slice(0, Math.max(0, room - 1))
  const names = Math.max(0, ...shown.map((row) => width(row.agentId)))
  const lines = shown.map((row) => agentLine(row, names, frame))
  const hidden = model.agents.length - shown.length
  return hidden === 0 ? lines : [...lines, clip(`  … and ${hidden} more agents`, frame.columns)]
}

const agentLine = (row: AgentRow, names: number, frame: Frame): string => {
  const paint = stateStyle(row.view, frame.style)
  const name = `  ${padEnd(row.agentId, names)}  `
  const left = clip(name + stateText(row.view, frame.now), frame.columns)
  const head = left.slice(0, name.length)
  return spread(
    { text: left, paint: (text) => head + paint(text.slice(head.length)) },
    { text: row.tokens === undefined ? "" : `${count(row.tokens)} tokens`, paint: frame.style.dim },
    frame.columns
  )
}

const messageLine = (model: LiveModel, frame: Frame): string => {
  const last = model.lastMessage
  if (last === undefined) return frame.style.dim(clip("no message yet", frame.columns))
  const head = clip(`last message ${age(frame.now - last.at)} ago: ${last.author}: `, frame.columns)
  return frame.style.dim(head) + clip(last.text, frame.columns - width(head))
}

/** `left` at the left edge and `right` at the right one; `right` goes first when there is no room for both. */
const spread = (
  left: { readonly text: string; readonly paint: (text: string) => string },
  right: { readonly text: string; readonly paint: (text: string) => string },
  columns: number
): string => {
  const room = columns - width(left.text) - 2
  if (right.text === "" || width(right.text) > room) return left.paint(clip(left.text, columns))
  return left.paint(left.text) + right.paint(padStart(right.text, columns - width(left.text)))
}
