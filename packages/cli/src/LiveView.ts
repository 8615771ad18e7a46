/**
 * What a person knows about a running trial: a model, and how each event changes it. Pure; `Render` turns it into lines,
 * `EventLines` turns single events into lines.
 */
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import type { AgentView, Outcome, Phase, SweptProcess, TrialEvent } from "@buzz-orchestra/runtime/TrialEvent"
import { oneLine } from "./internal/terminalText.ts"

/** One agent of the roster. Token counts are `undefined` until the agent reported any: unknown is not zero. */
export interface AgentRow {
  readonly agentId: string
  readonly view: AgentView
  readonly tokens: number | undefined
}

/** The newest message of the channel. */
export interface LastMessage {
  readonly author: string
  /** One line, safe to print. */
  readonly text: string
  /** Milliseconds since the epoch, when we saw it. */
  readonly at: number
}

/** One phase that is over. */
export interface EndedPhase {
  readonly phase: Phase
  readonly millis: number
  readonly error: string | undefined
}

/** Everything shown. Times are milliseconds since the epoch. */
export interface LiveModel {
  readonly trial:
    | {
        readonly condition: string
        readonly trialId: string
        readonly manifestHash: string
        readonly directory: string
        readonly startedAt: number
      }
    | undefined
  /** Phases under way, in the order they started: `observe` stays open while an agent works. */
  readonly open: ReadonlyArray<{ readonly phase: Phase; readonly since: number }>
  readonly ended: ReadonlyArray<EndedPhase>
  /** In the roster's order. */
  readonly agents: ReadonlyArray<AgentRow>
  readonly lastMessage: LastMessage | undefined
  readonly messages: number
  readonly waiting: { readonly sentence: string; readonly deadlineAt: number | undefined } | undefined
  readonly warnings: ReadonlyArray<string>
  readonly outcome: { readonly outcome: Outcome; readonly detail: string } | undefined
  readonly swept:
    | { readonly survivors: ReadonlyArray<SweptProcess>; readonly spared: ReadonlyArray<SweptProcess> }
    | undefined
  /** In US dollars, as the accounts say; `undefined` before they are drawn up. */
  readonly cost:
    | {
        readonly costUsd: number | undefined
        readonly atLeastUsd: number
        readonly reconciled: boolean
        readonly note: string
      }
    | undefined
  readonly end: { readonly at: number; readonly error: string | undefined } | undefined
}

/** Nothing has happened yet. */
export const initial: LiveModel = {
  trial: undefined,
  open: [],
  ended: [],
  agents: [],
  lastMessage: undefined,
  messages: 0,
  waiting: undefined,
  warnings: [],
  outcome: undefined,
  swept: undefined,
  cost: undefined,
  end: undefined
}

/** The model after `event`. */
export const update = (model: LiveModel, event: TrialEvent): LiveModel => {
  switch (event._tag) {
    case "TrialStarted": {
      const { condition, trialId, manifestHash, directory } = event
      return {
        ...model,
        trial: { condition, trialId, manifestHash, directory, startedAt: event.at },
        agents: event.agentIds.map((agentId) => ({ agentId, view: { _tag: "Starting" }, tokens: undefined }))
      }
    }
    case "PhaseStarted":
      return { ...model, open: [...model.open, { phase: event.phase, since: event.at }], waiting: undefined }
    case "PhaseEnded": {
      const { phase, millis, error } = event
      return {
        ...model,
        open: model.open.filter((open) => open.phase !== phase),
        ended: [...model.ended, { phase, millis, error }],
        waiting: undefined
      }
    }
    case "AgentChanged":
      return event.view._tag === "Dead" && isSwept(model)
        ? model
        : changeAgent(model, event.agentId, (row) => ({ ...row, view: event.view }))
    case "UsageSeen":
      // Counters run up over a session, so the newest report replaces the one before it.
      return changeAgent(model, event.agentId, (row) => ({ ...row, tokens: event.inputTokens + event.outputTokens }))
    case "MessageSeen":
      return isMessage(event.event)
        ? {
            ...model,
            lastMessage: { author: oneLine(event.author), text: oneLine(event.event.content), at: event.at },
            messages: model.messages + 1
          }
        : model
    case "Waiting":
      return { ...model, waiting: { sentence: event.sentence, deadlineAt: event.deadlineAt } }
    case "Warned":
      return { ...model, warnings: [...model.warnings, event.detail] }
    case "OutcomeDecided":
      return { ...model, outcome: { outcome: event.outcome, detail: event.detail }, waiting: undefined }
    case "Swept":
      return { ...model, swept: { survivors: event.survivors, spared: event.spared } }
    case "Accounted": {
      const { atLeastUsd, costUsd, note, reconciled } = event
      return { ...model, cost: { atLeastUsd, costUsd, note, reconciled } }
    }
    case "TrialEnded":
      return { ...model, end: { at: event.at, error: event.error }, open: [], waiting: undefined }
    case "Provisioned":
    case "StackInstalled":
    case "DeadlineSet":
    case "DeadlinePassed":
    case "Retried":
    case "StepEnded":
      return model
  }
}

/** Whether an event of the channel is a message, not an edit or a deletion of one. */
export const isMessage = (event: { readonly kind: number }): boolean =>
  event.kind === EventKind.Message || event.kind === EventKind.MessageV2

/** The error of a phase that somebody stopped. */
export const INTERRUPTED = "interrupted"

/** Whether the sweep has begun. Agents end in it because they are ended; that is no news, and their last state is. */
export const isSwept = (model: LiveModel): boolean =>
  [...model.open, ...model.ended].some(({ phase }) => phase === "sweep")

/** Tokens of the whole team so far; `undefined` when no agent has reported any. */
export const tokens = (model: LiveModel): number | undefined =>
  model.agents.reduce<number | undefined>(
    (sum, row) => (row.tokens === undefined ? sum : (sum ?? 0) + row.tokens),
    undefined
  )

/** Agents seen before `TrialStarted`, or outside the roster such as the forwarder, get a row of their own. */
const changeAgent = (model: LiveModel, agentId: string, change: (row: AgentRow) => AgentRow): LiveModel => {
  const known = model.agents.some((row) => row.agentId === agentId)
  const fresh: AgentRow = { agentId, view: { _tag: "Starting" }, tokens: undefined }
  return {
    ...model,
    agents: known
      ? model.agents.map((row) => (row.agentId === agentId ? change(row) : row))
      : [...model.agents, change(fresh)]
  }
}
