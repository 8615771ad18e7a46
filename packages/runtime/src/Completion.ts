/**
 * How a trial ends: a pure function of the roster, the agents' states, the channel and the clock. It returns an outcome, or
 * the sentence that says what is still being waited for. Times are milliseconds since the epoch.
 *
 * A team ends with the orchestrator's `DONE:`; or when it is quiescent, because agents wake by mention only. A lone agent
 * ends with its `DONE:`, or when its turn ended, because lone agents often say nothing. Both end with their budget. Without a
 * `DONE:` nothing but the lapse of time is concluded until the channel was read after the last change: a log that tells of a
 * turn's end, or of tokens, can be ahead of the channel.
 */
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import { DONE_PREFIX } from "@buzz-orchestra/relay/RelayObserver"
import * as AgentState from "./AgentState.ts"
import type { Mention } from "./Delivery.ts"

/** A team must have been quiet this long to be quiescent. A mention reaches an agent and starts a turn well within it. */
export const QUIET_MILLIS = 5000

/** A lone agent's turn must have been over this long: events that waited behind it start the next one at once. */
export const SOLO_QUIET_MILLIS = 1000

/** A team over its budget goes on spending: a relay that does not answer for longer may not let it. */
export const SPENDING_MILLIS = 10_000

/** Who takes part. */
export interface Team {
  /** In the order of the roster. */
  readonly agentIds: ReadonlyArray<string>
  readonly orchestratorId: string
  /** Whether the orchestrator is alone. */
  readonly solo: boolean
}

/** Everything a decision depends on. */
export interface CompletionInput {
  readonly roster: Team
  /** State of every agent of the roster. */
  readonly states: ReadonlyMap<string, AgentState.AgentState>
  /** The finishing message, as `findDone` finds it. */
  readonly done: NostrEvent | undefined
  /** Mentions that have not reached their agent, as `Delivery.undelivered` lists them. */
  readonly undelivered: ReadonlyArray<Mention>
  /**
   * Scripted messages that the channel has not shown yet, or that have not reached the orchestrator. `undefined` when nothing is
   * scripted. With a script a `DONE:` ends nothing before everything was heard and the orchestrator's turn is over: it may
   * answer the first of several requests.
   */
  readonly unheard?: ReadonlyArray<string> | undefined
  /** When the newest message of the channel was first seen; the task counts. */
  readonly lastMessageMillis: number
  /** When the last complete reading of the channel was begun whose messages are all taken into account. */
  readonly channelReadMillis: number | undefined
  /** The limit of tokens or money that is used up, as `Budget.exceeded` words it. */
  readonly overBudget?: { readonly detail: string; readonly sinceMillis: number } | undefined
  readonly nowMillis: number
  /** When the budget is used up. */
  readonly deadlineMillis: number
}

/** Outcomes that this function can reach; the others come from outside of it. */
export type CompletionOutcome = "done" | "stopped-without-done" | "quiescent" | "timed-out" | "over-budget"

/** The trial is over, or goes on. */
export type CompletionDecision =
  | {
      readonly _tag: "Ended"
      readonly outcome: CompletionOutcome
      readonly detail: string
      /** The finishing message; `undefined` unless the outcome is `done`. */
      readonly completion: NostrEvent | undefined
    }
  | {
      readonly _tag: "Waiting"
      /** What the live view prints. */
      readonly sentence: string
      /** When to decide again if nothing happens before. After `nowMillis`, at the deadline at the latest. */
      readonly recheckAtMillis: number
      /** Whether only a reading of the channel, begun now or later, is missing. */
      readonly readChannel: boolean
    }

/**
 * The orchestrator's first `DONE:` after the task. `seen` is in order of first sight, which alone orders: `created_at` is set
 * by authors. What was seen before the task is stale, what merely contains the word is a quotation, what others write is not
 * the orchestrator's.
 */
export const findDone = (
  seen: ReadonlyArray<NostrEvent>,
  after: { readonly taskEventId: string; readonly orchestrator: string }
): NostrEvent | undefined => {
  const task = seen.findIndex((event) => event.id === after.taskEventId)
  if (task === -1) return undefined
  const stale = new Set(seen.slice(0, task + 1).map((event) => event.id))
  return seen
    .slice(task + 1)
    .find(
      (event) =>
        event.pubkey === after.orchestrator &&
        (event.kind === EventKind.Message || event.kind === EventKind.MessageV2) &&
        event.content.startsWith(DONE_PREFIX) &&
        !stale.has(event.id)
    )
}

/** Whether the trial is over. */
export const decide = (input: CompletionInput): CompletionDecision => {
  const { deadlineMillis, done, nowMillis, roster } = input
  const agents = agentsNow(input)
  const isScriptOpen = scriptOpen(input, agents)
  if (done !== undefined && !isScriptOpen) return ended("done", `${roster.orchestratorId} posted DONE:`, done)
  if (nowMillis >= deadlineMillis)
    return ended("timed-out", `the budget is used up and ${lacking(input)} (${list(agents, nowMillis)})`)
  const quiet = () => (roster.solo ? soloStop(input, agents) : teamStop(input, agents))
  const stop = budgetStop(input) ?? (done === undefined ? quiet() : undefined)
  if (stop === undefined) return waiting(input, agents)
  const recheckAtMillis = Math.min(stop.atMillis, deadlineMillis)
  if (nowMillis < stop.atMillis)
    return {
      _tag: "Waiting",
      sentence: `waiting for ${stop.meanwhile} (${list(agents, nowMillis)})`,
      recheckAtMillis,
      readChannel: false
    }
  const isRead = input.channelReadMillis !== undefined && input.channelReadMillis >= stop.sinceMillis
  if (!isRead && nowMillis < (stop.unreadMillis ?? deadlineMillis))
    return {
      _tag: "Waiting",
      sentence: `waiting for the relay to say whether ${roster.orchestratorId} posted DONE: after all`,
      recheckAtMillis: Math.min(stop.unreadMillis ?? deadlineMillis, deadlineMillis),
      readChannel: true
    }
  return ended(stop.outcome, stop.detail)
}

/** An ending without `DONE:` that stands from `atMillis` on if nothing changes. */
interface Stop {
  readonly outcome: CompletionOutcome
  readonly detail: string
  /** The last change. */
  readonly sinceMillis: number
  readonly atMillis: number
  /** From then on it stands even if the channel could not be read. Default: never. */
  readonly unreadMillis?: number
  /** What is being waited for until then. */
  readonly meanwhile: string
}

interface AgentNow {
  readonly agentId: string
  readonly state: AgentState.AgentState
}

const agentsNow = (input: CompletionInput): ReadonlyArray<AgentNow> =>
  input.roster.agentIds.flatMap((agentId) => {
    const state = input.states.get(agentId)
    return state === undefined ? [] : [{ agentId, state: AgentState.at(state, input.nowMillis) }]
  })

/** What an ending without an end says of the orchestrator. */
const lacking = ({ done, roster }: CompletionInput): string =>
  done === undefined
    ? `${roster.orchestratorId} has not posted DONE:`
    : `${roster.orchestratorId} has not heard, or not answered, all that the script says`

const budgetStop = (input: CompletionInput): Stop | undefined => {
  const { overBudget } = input
  return overBudget === undefined
    ? undefined
    : {
        outcome: "over-budget",
        detail: `${overBudget.detail}, and ${lacking(input)}`,
        sinceMillis: overBudget.sinceMillis,
        atMillis: overBudget.sinceMillis,
        unreadMillis: overBudget.sinceMillis + SPENDING_MILLIS,
        meanwhile: "nothing"
      }
}

/** Whether a script goes on. The state of an agent that was never woken says nothing: its turn is still to come. */
const scriptOpen = ({ roster, unheard }: CompletionInput, agents: ReadonlyArray<AgentNow>): boolean => {
  if (unheard === undefined) return false
  const orchestrator = agents.find(({ agentId }) => agentId === roster.orchestratorId)
  return unheard.length > 0 || (orchestrator !== undefined && !AgentState.isQuiet(orchestrator.state))
}

/** A lone agent whose turn is over and who has nothing more to read. */
const soloStop = (input: CompletionInput, agents: ReadonlyArray<AgentNow>): Stop | undefined => {
  const [agent] = agents
  if (agent === undefined || agent.state._tag === "Ready" || !AgentState.isQuiet(agent.state)) return undefined
  if (owed(input, agents).length > 0 || (input.unheard?.length ?? 0) > 0) return undefined
  const sinceMillis = Math.max(agent.state.sinceMillis, input.lastMessageMillis)
  const detail = `${agent.agentId} ended turn ${AgentState.turns(agent.state)} without DONE:`
  return {
    outcome: "stopped-without-done",
    detail: agent.state._tag === "Orphaned" ? `${detail} (${agent.state.detail})` : detail,
    sinceMillis,
    atMillis: sinceMillis + SOLO_QUIET_MILLIS,
    meanwhile: `${agent.agentId} to post DONE: or start another turn`
  }
}

/** A team of which nobody works and nobody is about to. Logs without a start line cannot show that. */
const teamStop = (input: CompletionInput, agents: ReadonlyArray<AgentNow>): Stop | undefined => {
  const everyone = agents.length === input.roster.agentIds.length
  if (!everyone || !agents.every(({ state }) => AgentState.isQuiet(state))) return undefined
  if (!agents.some(({ state }) => state.starts > 0)) return undefined
  if (agents.some(({ state }) => state.starts === 0 && state.ends > 0)) return undefined
  if (owed(input, agents).length > 0) return undefined
  const sinceMillis = Math.max(input.lastMessageMillis, ...agents.map(({ state }) => state.sinceMillis))
  return {
    outcome: "quiescent",
    detail: `every agent is idle, nothing is undelivered, and ${input.roster.orchestratorId} has not posted DONE:`,
    sinceMillis,
    atMillis: sinceMillis + QUIET_MILLIS,
    meanwhile: `anyone to start another turn; otherwise the team is quiescent`
  }
}

/** Mentions that can still wake somebody. What was given up together with a turn cannot. */
const owed = (input: CompletionInput, agents: ReadonlyArray<AgentNow>): ReadonlyArray<Mention> => {
  const gaveUp = new Set(agents.flatMap(({ agentId, state }) => (state._tag === "Orphaned" ? [agentId] : [])))
  return input.undelivered.filter((mention) => !gaveUp.has(mention.agentId))
}

const waiting = (input: CompletionInput, agents: ReadonlyArray<AgentNow>): CompletionDecision => {
  const { nowMillis, roster } = input
  const unread = [...new Set(owed(input, agents).map((mention) => mention.agentId))]
  const others = unread.length === 0 ? "" : `; undelivered: a mention of ${unread.join(", ")}`
  const act =
    input.done !== undefined ? "hear and answer the script" : roster.solo ? "post DONE: or end its turn" : "post DONE:"
  const retries = agents.flatMap(({ state }) =>
    state._tag === "Requeued" ? [state.sinceMillis + AgentState.RETRY_MILLIS] : []
  )
  return {
    _tag: "Waiting",
    sentence: `waiting for ${roster.orchestratorId} to ${act} (${list(agents, nowMillis)}${others})`,
    recheckAtMillis: Math.min(input.deadlineMillis, ...retries),
    readChannel: false
  }
}

const ended = (outcome: CompletionOutcome, detail: string, completion?: NostrEvent): CompletionDecision => ({
  _tag: "Ended",
  outcome,
  detail,
  completion
})

const list = (agents: ReadonlyArray<AgentNow>, nowMillis: number): string =>
  agents.map(({ agentId, state }) => `${agentId} ${describe(state, nowMillis)}`).join(", ")

/** Such as `in turn 2 for 12 s`. */
const describe = (state: AgentState.AgentState, nowMillis: number): string => {
  switch (state._tag) {
    case "Starting":
      return "starting"
    case "Ready":
      return "ready"
    case "InTurn":
      return `in turn ${AgentState.turns(state)} for ${Math.max(0, Math.floor((nowMillis - state.sinceMillis) / 1000))} s`
    case "Idle":
      return "idle"
    case "Orphaned":
      return `idle, ${state.detail}`
    case "Requeued":
      return `to try again, ${state.detail}`
    case "Dead":
      return `dead, ${state.detail}`
  }
}
