/**
 * What the relay itself says: signed with its key, kept like any other event, and always newer than what it said before about
 * the same matter.
 */
import * as EventKind from "../EventKind.ts"
import type { Filter } from "../Filter.ts"
import type { EventTemplate } from "../NostrEvent.ts"
import * as EventStore from "./EventStore.ts"
import * as RelayMembers from "./RelayMembers.ts"
import * as RelayState from "./RelayState.ts"

/** The event as the relay's own, for a channel or, without one, for everybody. */
export const signed = (
  rules: RelayState.RelayRules,
  template: EventTemplate,
  channelId: string | undefined
): EventStore.StoredEvent => ({ event: rules.sign(template), channelId, thread: undefined })

/** With these events kept. */
export const withAll = (
  state: RelayState.RelayState,
  events: ReadonlyArray<EventStore.StoredEvent>
): RelayState.RelayState => events.reduce((next, row) => RelayState.withEvent(next, row) ?? next, state)

/** `now`, or later than what the filter finds, whatever the clock says: the newest state must win. Seconds. */
export const nextTime = (store: EventStore.EventStore, filter: Filter, now: number): number => {
  const [previous] = EventStore.query(store, { ...filter, limit: 1 }, () => true)
  return previous === undefined ? now : Math.max(now, previous.event.created_at + 1)
}

/** Carries out a change of the members, and says so: the new state, and the events to be delivered. `now` in seconds. */
export const aboutMembers = (
  state: RelayState.RelayState,
  change: RelayMembers.MemberChange,
  rules: RelayState.RelayRules,
  now: number
): readonly [RelayState.RelayState, ReadonlyArray<EventStore.StoredEvent>] => {
  const at = nextTime(state.store, { kinds: [EventKind.RelayMembers], authors: [rules.pubkey] }, now)
  const said = RelayMembers.announcements(change, at).map((template) => signed(rules, template, undefined))
  return [withAll(RelayState.withMembers(state, change.members), said), said]
}

/** A relay as it starts: a closed one has its owner, and says who its members are. `now` in seconds. */
export const begin = (
  state: RelayState.RelayState,
  rules: RelayState.RelayRules,
  now: number
): RelayState.RelayState => {
  if (rules.closed === undefined || state.members.get(rules.closed.owner) === "owner") return state
  const { owner } = rules.closed
  const change = { members: RelayMembers.withOwner(state.members, owner), target: owner, role: "owner" } as const
  return aboutMembers(state, { ...change, isNew: !state.members.has(owner) }, rules, now)[0]
}
