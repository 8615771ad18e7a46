/**
 * Everything that the watch told of the stack's programs, as one value: what each agent does, what it reported, what has
 * reached it, and which programs ended. Pure; times are milliseconds since the epoch and come from the caller.
 */
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import type { AgentSignal } from "./AgentSignal.ts"
import * as AgentState from "./AgentState.ts"
import * as Delivery from "./Delivery.ts"
import * as Handoffs from "./Handoffs.ts"
import * as Settlement from "./Settlement.ts"
import * as Usage from "./Usage.ts"

/** How a program ended, as far as it can be known. */
export interface ProgramEnd {
  readonly pid: number
  readonly exitCode: number | undefined
  /** Such as `SIGKILL`. */
  readonly signal: string | undefined
  /** In words, such as `exited with code 1`. */
  readonly detail: string
  readonly at: number
}

/** What is known of one agent. */
export interface AgentKnown {
  readonly state: AgentState.AgentState
  readonly usage: Usage.Usage
  readonly settlement: Settlement.Settlement
  readonly handoffs: Handoffs.Handoffs
  /** Its own words when it said that it will not hear the channel. */
  readonly refusal: string | undefined
}

/** What is known of a team and of the programs beside it. */
export interface TeamState {
  /** By agent id, in the order of launch. */
  readonly agents: ReadonlyMap<string, AgentKnown>
  readonly delivery: Delivery.Delivery
  /** Programs that ended, agents and others, by name. */
  readonly ended: ReadonlyMap<string, ProgramEnd>
}

/** Nothing was launched yet. */
export const initial: TeamState = { agents: new Map(), delivery: Delivery.initial, ended: new Map() }

/** An agent is being launched; it listens to `channelId` once it is ready. */
export const launched = (team: TeamState, agentId: string, channelId: string, nowMillis: number): TeamState =>
  withAgent(team, agentId, {
    state: AgentState.initial(channelId, nowMillis),
    usage: Usage.initial,
    settlement: Settlement.initial,
    handoffs: Handoffs.initial,
    refusal: undefined
  })

/** A program that may have ended before is started again. */
export const restarted = (team: TeamState, name: string): TeamState =>
  team.ended.has(name) ? { ...team, ended: new Map([...team.ended].filter(([other]) => other !== name)) } : team

/** An agent's log said something. The same value comes back when it means nothing here. */
export const heard = (team: TeamState, agentId: string, signal: AgentSignal, nowMillis: number): TeamState => {
  const known = team.agents.get(agentId)
  if (known === undefined) return team
  const state = AgentState.transition(known.state, signal, nowMillis)
  const next: AgentKnown = {
    state,
    usage: signal._tag === "Usage" ? Usage.record(known.usage, signal) : known.usage,
    settlement: Settlement.heard(known.settlement, signal, state.starts),
    handoffs: Handoffs.heard(known.handoffs, signal),
    refusal: known.refusal ?? refusalOf(signal, state.channelId)
  }
  const delivery = Delivery.heard(team.delivery, agentId, signal)
  const same = delivery === team.delivery && isSame(known, next)
  return same ? team : withAgent({ ...team, delivery }, agentId, next)
}

/** A message was seen in the channel. */
export const noticed = (
  team: TeamState,
  event: NostrEvent,
  agents: ReadonlyArray<{ readonly agentId: string; readonly pubkey: string }>
): TeamState => {
  const delivery = Delivery.seen(team.delivery, event, agents)
  return delivery === team.delivery ? team : { ...team, delivery }
}

/** A program ended. */
export const ended = (team: TeamState, name: string, end: ProgramEnd): TeamState => {
  const after = { ...team, ended: new Map([...team.ended, [name, end]]) }
  const known = team.agents.get(name)
  if (known === undefined) return after
  const state = AgentState.transition(known.state, { _tag: "ProcessDied", detail: end.detail }, end.at)
  return withAgent(after, name, { ...known, state })
}

/** Only the states, by agent id. */
export const states = (team: TeamState): ReadonlyMap<string, AgentState.AgentState> =>
  new Map([...team.agents].map(([agentId, known]) => [agentId, known.state]))

/**
 * Agents whose usage is still to come. `finishing` has said its last word and will end its turn by itself, so its turn is
 * waited for to the end; others may work on for as long as they like.
 */
export const owing = (team: TeamState, finishing: string | undefined): ReadonlyArray<string> =>
  [...team.agents].flatMap(([agentId, { settlement, state }]) => {
    if (state._tag === "Dead") return []
    return settlement.owes || (agentId === finishing && state._tag === "InTurn") ? [agentId] : []
  })

const withAgent = (team: TeamState, agentId: string, known: AgentKnown): TeamState => ({
  ...team,
  agents: new Map([...team.agents, [agentId, known]])
})

const refusalOf = (signal: AgentSignal, channelId: string): string | undefined => {
  if (signal._tag === "NoSubscriptions") return signal.detail
  if (signal._tag !== "SubscribeFailed" || signal.channelId !== channelId) return undefined
  return `failed to subscribe to channel ${signal.channelId}: ${signal.detail}`
}

const isSame = (a: AgentKnown, b: AgentKnown): boolean =>
  a.state === b.state &&
  a.usage === b.usage &&
  a.settlement === b.settlement &&
  a.handoffs === b.handoffs &&
  a.refusal === b.refusal
