/**
 * An event of a trial as a line of its log, for people with nothing but a pager. Pure.
 */
import type { AgentView, TrialEvent } from "../TrialEvent.ts"

/** Characters of a message in the log; the transcript has all of it. */
const SHOWN_MESSAGE = 300

/** What happened, in one line; `undefined` for what says nothing that other lines do not. */
export const eventText = (event: TrialEvent): string | undefined => {
  const text = words(event)
  return text === undefined ? undefined : oneLine(text)
}

const words = (event: TrialEvent): string | undefined => {
  switch (event._tag) {
    case "TrialStarted":
      return `trial of ${event.condition} (${event.manifestHash}): ${event.agentIds.join(", ")}; ${event.timeoutSeconds} s`
    case "PhaseStarted":
      return `phase ${event.phase} began`
    case "PhaseEnded":
      return `phase ${event.phase} ${event.error === undefined ? "ended" : "failed"} after ${seconds(event.millis)}${because(event.error)}`
    case "Provisioned":
      return `channel ${event.channelId}; ${event.agents.map(({ agentId, pubkey }) => `${agentId} ${pubkey}`).join(", ")}`
    case "StackInstalled":
      return `installed ${Object.keys(event.digests).join(", ")}`
    case "DeadlineSet":
      return `deadline: ${event.what} within ${seconds(event.millis)}`
    case "DeadlinePassed":
      return `deadline passed: ${event.what} after ${seconds(event.millis)}`
    case "Retried":
      return `tried again: ${event.detail}`
    case "StepEnded":
      return `step ${event.step} ${event.error === undefined ? "ended" : "failed"} after ${seconds(event.millis)}${because(event.error)}`
    case "AgentChanged":
      return `${event.agentId} ${viewWords(event.view)}`
    case "MessageSeen":
      return `${event.author}: ${clip(event.event.content)}`
    case "UsageSeen":
      return `${event.agentId} used ${event.inputTokens} input and ${event.outputTokens} output tokens`
    case "Waiting":
      return event.sentence
    case "Warned":
      return `warning: ${event.detail}`
    case "OutcomeDecided":
      return `outcome ${event.outcome}: ${event.detail}`
    case "Swept":
      return `swept: ${event.survivors.length} survived, ${event.spared.length} spared`
    case "Accounted":
      return `cost ${event.costUsd === undefined ? `unknown, at least ${event.atLeastUsd}` : event.costUsd} US dollars: ${event.note}`
    case "TrialEnded":
      return `trial ended: ${event.outcome ?? "no outcome"}${because(event.error)}`
  }
}

const viewWords = (view: AgentView): string => {
  switch (view._tag) {
    case "Starting":
      return "starting"
    case "Ready":
      return "ready"
    case "InTurn":
      return `in turn ${view.turn}`
    case "Idle":
      return `idle after ${view.turns} turns`
    case "Requeued":
      return `requeued after ${view.turns} turns: ${view.detail}`
    case "Dead":
      return `dead: ${view.detail}`
  }
}

const seconds = (millis: number): string => `${(millis / 1000).toFixed(3)} s`

const because = (error: string | undefined): string => (error === undefined ? "" : `: ${error}`)

const clip = (text: string): string => (text.length <= SHOWN_MESSAGE ? text : `${text.slice(0, SHOWN_MESSAGE)}…`)

/** Agents write what they like, escape sequences and line feeds included. */
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ").trim()
