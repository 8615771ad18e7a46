/**
 * Keeps the `TeamState` of one trial and tells what changed in it.
 */
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import { Clock, Effect, Option, type Stream, SubscriptionRef } from "effect"
import type { AgentSignal } from "../AgentSignal.ts"
import * as AgentState from "../AgentState.ts"
import * as TeamState from "../TeamState.ts"
import type { TrialHappening } from "../TrialEvent.ts"
import * as Usage from "../Usage.ts"

export interface TeamKeeper {
  readonly state: Effect.Effect<TeamState.TeamState>
  readonly changes: Stream.Stream<TeamState.TeamState>
  launched(agentId: string): Effect.Effect<void>
  restarted(name: string): Effect.Effect<void>
  heard(agentId: string, signal: AgentSignal): Effect.Effect<void>
  noticed(
    event: NostrEvent,
    agents: ReadonlyArray<{ readonly agentId: string; readonly pubkey: string }>
  ): Effect.Effect<void>
  ended(name: string, end: TeamState.ProgramEnd): Effect.Effect<void>
}

/** A team that nobody belongs to yet. Its agents will listen to `channelId`. `publish` is told each change and never waits. */
export const make = Effect.fnUntraced(function* (
  channelId: string,
  publish: (happening: TrialHappening) => Effect.Effect<void>
): Effect.fn.Return<TeamKeeper> {
  const ref = yield* SubscriptionRef.make(TeamState.initial)

  /**
   * Applies a change; subscribers hear of it only when it is one. It is told first: what they do because of it, such as ending a
   * phase, is told after it.
   */
  const change = (f: (team: TeamState.TeamState, nowMillis: number) => TeamState.TeamState, agentId?: string) =>
    SubscriptionRef.updateSomeEffect(
      ref,
      Effect.fnUntraced(function* (before) {
        const now = yield* Clock.currentTimeMillis
        const after = f(before, now)
        if (after === before) return Option.none()
        if (agentId !== undefined) yield* tell(agentId, before.agents.get(agentId), after.agents.get(agentId), now)
        return Option.some(after)
      })
    )

  const tell = Effect.fnUntraced(function* (
    agentId: string,
    before: TeamState.AgentKnown | undefined,
    after: TeamState.AgentKnown | undefined,
    now: number
  ) {
    if (after === undefined) return
    if (before?.state !== after.state)
      yield* publish({ _tag: "AgentChanged", agentId, view: AgentState.toView(after.state, now) })
    const totals = before?.usage === after.usage ? undefined : Usage.totals(after.usage)
    if (totals === undefined) return
    const { cachedTokens, inputTokens, outputTokens } = totals
    yield* publish({ _tag: "UsageSeen", agentId, inputTokens, outputTokens, cachedTokens })
  })

  return {
    state: SubscriptionRef.get(ref),
    changes: SubscriptionRef.changes(ref),
    launched: (agentId) => change((team, now) => TeamState.launched(team, agentId, channelId, now), agentId),
    restarted: (name) => change((team) => TeamState.restarted(team, name)),
    heard: (agentId, signal) => change((team, now) => TeamState.heard(team, agentId, signal, now), agentId),
    noticed: (event, agents) => change((team) => TeamState.noticed(team, event, agents)),
    ended: (name, end) => change((team) => TeamState.ended(team, name, end), name)
  }
})
