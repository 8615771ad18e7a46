/**
 * What an agent is doing, as far as its log says: a total table of states and events. Pure; times are milliseconds since
 * the epoch and come from the caller.
 *
 * ```
 * Starting ─► Ready ─► InTurn ─► Idle ─► InTurn …
 *                        │ ▲
 *        failed, cancelled ▼ └ started again
 *                      Requeued ─► Orphaned (given up, or nothing for `RETRY_MILLIS`)
 * any ─► Dead
 * ```
 */
import type { AgentSignal, TurnFailure } from "./AgentSignal.ts"
import type { AgentView } from "./TrialEvent.ts"

/** Facts that every state carries. */
interface Common {
  /** The trial's channel; a subscription to another one makes nobody ready. */
  readonly channelId: string
  /** When the state was entered. */
  readonly sinceMillis: number
  /** Turns that logged their start; older builds log none. */
  readonly starts: number
  /** Turns known to be over: ended, cancelled, failed, or followed by another start. */
  readonly ends: number
}

/** What an agent is doing. */
export type AgentState = Common &
  (
    | { readonly _tag: "Starting" }
    /** Subscribed, and never woken so far. */
    | { readonly _tag: "Ready" }
    | { readonly _tag: "InTurn" }
    /** Its last turn ended in order: nothing will happen until somebody mentions it. */
    | { readonly _tag: "Idle" }
    /** Its last turn did not end in order, and the same events will be tried again. Not idle. */
    | { readonly _tag: "Requeued"; readonly detail: string }
    /** Its last turn did not end in order, and no further attempt will come. */
    | { readonly _tag: "Orphaned"; readonly detail: string }
    | { readonly _tag: "Dead"; readonly detail: string }
  )

/** What moves an agent: a signal of its log, or the end of its process. */
export type AgentEvent = AgentSignal | { readonly _tag: "ProcessDied"; readonly detail: string }

/**
 * After this long without a new turn no further attempt comes. The longest pause before one is 300 s plus a fifth, and an
 * agent looks for due attempts every few seconds.
 */
export const RETRY_MILLIS = 370_000

/** An agent whose process was launched just now. */
export const initial = (channelId: string, nowMillis: number): AgentState => ({
  _tag: "Starting",
  channelId,
  sinceMillis: nowMillis,
  starts: 0,
  ends: 0
})

/** The state as of `nowMillis`: an attempt that has not come by then will not come. */
export const at = (state: AgentState, nowMillis: number): AgentState =>
  state._tag === "Requeued" && nowMillis - state.sinceMillis >= RETRY_MILLIS
    ? { ...state, _tag: "Orphaned", sinceMillis: state.sinceMillis + RETRY_MILLIS }
    : state

/** The state after `event`. Events that mean nothing in a state leave it as it is; nobody leaves `Dead`. */
export const transition = (before: AgentState, event: AgentEvent, nowMillis: number): AgentState => {
  const state = at(before, nowMillis)
  if (state._tag === "Dead") return state
  const enter = { channelId: state.channelId, sinceMillis: nowMillis, starts: state.starts, ends: state.ends }
  switch (event._tag) {
    case "Subscribed":
      return state._tag === "Starting" && event.channelId === state.channelId ? { ...enter, _tag: "Ready" } : state
    case "TurnStarted":
      return { ...enter, _tag: "InTurn", starts: closed(state) + 1, ends: closed(state) }
    case "TurnEnded":
      return event.stop === "cancelled"
        ? { ...enter, _tag: "Requeued", detail: "its turn was cancelled", ends: failed(state) }
        : { ...enter, _tag: "Idle", ends: state.starts === 0 ? state.ends + 1 : closed(state) }
    case "TurnFailed":
      return { ...enter, _tag: "Requeued", detail: FAILURES[event.kind], ends: failed(state) }
    case "Requeued":
      return { ...enter, _tag: "Requeued", detail: lastFailure(state), ends: failed(state) }
    case "DeadLettered":
      return { ...enter, _tag: "Orphaned", detail: `${lastFailure(state)}, too often`, ends: failed(state) }
    case "AllAgentsDead":
      return { ...enter, _tag: "Dead", detail: "all its agent processes died" }
    case "ProcessDied":
      return { ...enter, _tag: "Dead", detail: event.detail }
    default:
      return state
  }
}

/** Whether it hears the channel. */
export const isReady = (state: AgentState): boolean => state._tag !== "Starting" && state._tag !== "Dead"

/** Whether nothing will happen until somebody mentions it. Ask about the state `at` the present. */
export const isQuiet = (state: AgentState): boolean =>
  state._tag === "Ready" || state._tag === "Idle" || state._tag === "Orphaned"

/** How many turns it took: by starts where its build logs them, else by ends. */
export const turns = (state: AgentState): number => (state.starts > 0 ? state.starts : state.ends)

/** The state as a person sees it. */
export const toView = (before: AgentState, nowMillis: number): AgentView => {
  const state = at(before, nowMillis)
  switch (state._tag) {
    case "Starting":
    case "Ready":
      return { _tag: state._tag }
    case "InTurn":
      return { _tag: "InTurn", turn: turns(state), sinceMillis: state.sinceMillis }
    case "Idle":
    case "Orphaned":
      return { _tag: "Idle", turns: turns(state) }
    case "Requeued":
      return { _tag: "Requeued", turns: turns(state), detail: state.detail }
    case "Dead":
      return { _tag: "Dead", detail: state.detail }
  }
}

const FAILURES: Readonly<Record<TurnFailure, string>> = {
  "hard-timeout": "its turn hit the hard timeout",
  "idle-timeout": "its turn hit the idle timeout",
  "agent-exited": "its agent process exited during the turn",
  "prompt-error": "its turn failed"
}

/** Ends once the turn that is open, if one is, counts as over. */
const closed = (state: AgentState): number => Math.max(state.ends, state.starts)

/** The same for a turn that failed, which without start lines is seen only here; its later failure lines are no new turn. */
const failed = (state: AgentState): number =>
  state.starts === 0 && state._tag !== "Requeued" && state._tag !== "Orphaned" ? state.ends + 1 : closed(state)

const lastFailure = (state: AgentState): string =>
  state._tag === "Requeued" || state._tag === "Orphaned" ? state.detail : "its events wait for another attempt"
