/**
 * One event → the lines that stay on the page. Without a terminal every change has a line; on a terminal the live block
 * shows the changes, and only what people said and what went wrong scrolls by above it. Pure.
 */
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import type { TrialEvent } from "@buzz-orchestra/runtime/TrialEvent"
import { count, duration, oneLine, padStart } from "./internal/terminalText.ts"
import { INTERRUPTED, isMessage, isSwept, type LiveModel } from "./LiveView.ts"
import { stateStyle, stateText } from "./Render.ts"
import type { Style } from "./Style.ts"

/** Columns of the time that stands before each line. */
const TIME_COLUMNS = 12

/** Longest part of a message on one line; the transcript has the whole text. In UTF-16 units. */
const MESSAGE_LIMIT = 400

/** The lines for `event` when no block shows the rest: one per change. `before` is the model the event meets. */
export const everyLine = (before: LiveModel, event: TrialEvent, style: Style): ReadonlyArray<string> => {
  const text = lasting(before, event, style) ?? passing(before, event, style)
  return text === undefined ? [] : [stamp(before, event, style) + text]
}

/** The lines for `event` above a live block. */
export const lastingLine = (before: LiveModel, event: TrialEvent, style: Style): ReadonlyArray<string> => {
  const text = lasting(before, event, style)
  return text === undefined ? [] : [stamp(before, event, style) + text]
}

/** How long after the start of the trial, such as `      3.1 s  `. */
const stamp = (before: LiveModel, event: TrialEvent, style: Style): string => {
  const start = before.trial?.startedAt ?? event.at
  return style.dim(padStart(duration(event.at - start), TIME_COLUMNS)) + "  "
}

/** What is worth reading later. */
const lasting = (before: LiveModel, event: TrialEvent, style: Style): string | undefined => {
  switch (event._tag) {
    case "TrialStarted":
      return `${style.bold(oneLine(event.condition))} ${style.dim(event.manifestHash.slice(0, 16))}: ${event.agentIds.join(", ")}`
    case "MessageSeen":
      return messageText(event, style)
    case "Warned":
      return `${style.bad("warning:")} ${oneLine(event.detail)}`
    case "PhaseEnded":
      if (event.error === undefined) return undefined
      if (event.error === INTERRUPTED) return `${event.phase} interrupted`
      return `${style.bad(`${event.phase} failed:`)} ${oneLine(event.error)}`
    case "AgentChanged":
      return event.view._tag === "Dead" && !isSwept(before)
        ? `${style.bold(event.agentId)} ${painted(event, style)}`
        : undefined
    case "OutcomeDecided":
      return `${style.bold(event.outcome)}: ${oneLine(event.detail)}`
    default:
      return undefined
  }
}

/** What the live block would show. */
const passing = (before: LiveModel, event: TrialEvent, style: Style): string | undefined => {
  switch (event._tag) {
    case "PhaseStarted":
      return style.dim(`phase ${event.phase}`)
    case "AgentChanged": {
      if (isSwept(before)) return undefined
      const used = before.agents.find((row) => row.agentId === event.agentId)?.tokens
      const tail = event.view._tag !== "Idle" || used === undefined ? "" : `, ${count(used)} tokens`
      return `${style.bold(event.agentId)} ${painted(event, style)}${tail}`
    }
    case "Waiting":
      return gist(event.sentence) === gist(before.waiting?.sentence ?? "")
        ? undefined
        : style.dim(oneLine(event.sentence))
    default:
      return undefined
  }
}

const painted = (event: Extract<TrialEvent, { readonly _tag: "AgentChanged" }>, style: Style): string => {
  const { view } = event
  const text = view._tag === "InTurn" ? `in turn ${view.turn}` : stateText(view, event.at)
  return stateStyle(view, style)(text)
}

/** What is waited for, without the part in parentheses, which repeats what other lines have said. */
const gist = (sentence: string): string => sentence.replace(/ \(.*\)$/s, "")

/** Messages and what changes them. Taking back a reaction is a deletion too, and nothing that anybody reads. */
const messageText = (
  { author, event }: Extract<TrialEvent, { readonly _tag: "MessageSeen" }>,
  style: Style
): string | undefined => {
  const name = style.bold(oneLine(author))
  if (isMessage(event)) return `${name}: ${cut(oneLine(event.content))}`
  if (event.kind === EventKind.MessageEdit) return `${name} edited a message: ${cut(oneLine(event.content))}`
  if (event.kind === EventKind.DeleteMessage) return `${name} deleted a message`
  return undefined
}

const cut = (text: string): string => (text.length <= MESSAGE_LIMIT ? text : `${text.slice(0, MESSAGE_LIMIT)}…`)
