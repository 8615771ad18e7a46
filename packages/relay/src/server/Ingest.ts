/**
 * What happens to a submitted event: the relay's checks in the relay's order, then what the event changes. Nothing is
 * sent here; the outcome names what is to be delivered and in which channel access may have ended.
 */
import { HashMap, Result } from "effect"
import * as EventKind from "../EventKind.ts"
import type { EventTemplate, NostrEvent } from "../NostrEvent.ts"
import * as Channel from "./Channel.ts"
import * as ChannelEvents from "./ChannelEvents.ts"
import * as ChannelRules from "./ChannelRules.ts"
import * as ContentChecks from "./ContentChecks.ts"
import * as EventChecks from "./EventChecks.ts"
import * as EventStore from "./EventStore.ts"
import * as KindRules from "./KindRules.ts"
import { orRefuse, type Refusal, refuse } from "./Refusal.ts"
import * as RelayMembers from "./RelayMembers.ts"
import * as RelayState from "./RelayState.ts"
import * as RelayVoice from "./RelayVoice.ts"
import * as Targets from "./Targets.ts"
import * as Threads from "./Threads.ts"

/** What the sender is told. */
export interface Answer {
  readonly accepted: boolean
  /** Empty, `duplicate:`, or why the event was refused. */
  readonly message: string
  readonly status: 200 | Refusal["status"]
}

/** The result of one submission. */
export interface Outcome {
  readonly state: RelayState.RelayState
  readonly answer: Answer
  /** New events for subscribers, in order: the submitted one, then what the relay says about it. */
  readonly deliveries: ReadonlyArray<EventStore.StoredEvent>
  /** The channel whose members or visibility changed. */
  readonly changedChannel: string | undefined
  /** Whether somebody may not use the relay any more. */
  readonly excludes?: boolean
}

/** Accepts or refuses. A refusal leaves the state as it was. `now` in seconds. */
export const submit = (
  state: RelayState.RelayState,
  submission: EventChecks.Submission,
  rules: RelayState.RelayRules,
  now: number
): Outcome =>
  Result.match(decide(state, submission, rules, now), {
    onSuccess: (outcome) => outcome,
    onFailure: ({ message, status }) => ({
      state,
      answer: { accepted: false, message, status },
      deliveries: [],
      changedChannel: undefined
    })
  })

const decide = (
  state: RelayState.RelayState,
  submission: EventChecks.Submission,
  rules: RelayState.RelayRules,
  now: number
): Result.Result<Outcome, Refusal> =>
  Result.gen(function* () {
    const { event } = submission
    yield* EventChecks.check(submission, rules, now)
    if (RelayMembers.isRequest(event.kind)) return yield* administer(state, event, rules, now)
    const channelId = yield* resolveChannel(state, event)
    yield* checkAccess(state, event, channelId)
    if (EventKind.isEphemeral(event.kind)) return passOn(state, event, channelId, now)
    const change = yield* changeOf(state, event, channelId)
    const target = yield* Targets.check(state, event, channelId, rules.pubkey)
    yield* ContentChecks.checkMedia(event)
    const thread =
      channelId !== undefined && KindRules.needsChannel(event.kind)
        ? yield* orRefuse(Threads.place(state.store, channelId, event))
        : undefined
    yield* ContentChecks.checkContent(state.store, event)
    const stored = { event, channelId, thread }
    const next = RelayState.withEvent(state, stored)
    if (next === undefined) return accepted(state, "duplicate:")
    yield* checkRoom(next, event, rules)
    return applied(next, stored, { target, change }, rules, now)
  })

/** Carries out a request about the relay's members, which is not kept. */
const administer = (
  state: RelayState.RelayState,
  event: NostrEvent,
  rules: RelayState.RelayRules,
  now: number
): Result.Result<Outcome, Refusal> =>
  Result.map(orRefuse(RelayMembers.decide(state.members, event, now)), (change) => {
    if (change === undefined) return accepted(state, "")
    const [next, said] = RelayVoice.aboutMembers(state, change, rules, now)
    return { ...accepted(next, ""), deliveries: said, excludes: change.role === undefined }
  })

/** A full relay still takes what makes room. */
const checkRoom = (
  next: RelayState.RelayState,
  { kind }: NostrEvent,
  { maxStoredBytes }: RelayState.RelayRules
): Result.Result<void, Refusal> =>
  next.store.bytes <= maxStoredBytes || kind === EventKind.Deletion || kind === EventKind.DeleteMessage
    ? Result.void
    : refuse("error: the relay is full", 507)

/** The channel under which the event will be kept. Also checks that one is there where the kind needs it. */
const resolveChannel = (
  state: RelayState.RelayState,
  event: NostrEvent
): Result.Result<string | undefined, Refusal> => {
  switch (KindRules.channelSource(event.kind)) {
    case "none":
      return Result.succeed(undefined)
    case "target":
      return orRefuse(Targets.channelOf(state.store, event))
    case "tag": {
      const channelId = Channel.namedIn(event)
      return channelId === undefined && KindRules.needsChannel(event.kind)
        ? refuse("invalid: channel-scoped events must include an h tag")
        : Result.succeed(channelId)
    }
  }
}

const checkAccess = (
  state: RelayState.RelayState,
  event: NostrEvent,
  channelId: string | undefined
): Result.Result<void, Refusal> =>
  channelId === undefined ||
  event.kind === EventKind.CreateChannel ||
  event.kind === EventKind.JoinChannel ||
  RelayState.mayAccess(state, channelId, event.pubkey)
    ? Result.void
    : refuse("restricted: not a channel member")

/** What an administrative event does to its channel, and whether an archived channel takes the event at all. */
const changeOf = (
  state: RelayState.RelayState,
  event: NostrEvent,
  channelId: string | undefined
): Result.Result<ChannelRules.ChannelChange | undefined, Refusal> =>
  Result.gen(function* () {
    if (event.kind === EventKind.JoinChannel && channelId === undefined)
      return yield* refuse("invalid: join request must include an h tag")
    if (channelId === undefined) return undefined
    const channel = RelayState.channel(state, channelId)
    if (event.kind === EventKind.CreateChannel) {
      if (channel !== undefined) return yield* refuse("duplicate: channel already exists", 200)
      return yield* orRefuse(ChannelRules.create(channelId, event))
    }
    if (channel === undefined || channel.deleted) return yield* refuse("invalid: channel not found")
    const facts = (pubkey: string) => RelayState.factsAbout(state, pubkey)
    const change = yield* orRefuse(ChannelRules.decide(channel, event, facts))
    if (channel.archived && change?.channel.archived !== false) return yield* refuse("invalid: channel is archived")
    return change
  })

/** Ephemeral events are passed on and forgotten, except that presence is remembered for a while. */
const passOn = (
  state: RelayState.RelayState,
  event: NostrEvent,
  channelId: string | undefined,
  now: number
): Outcome => ({
  ...accepted(event.kind === EventKind.Presence ? withPresence(state, event, now) : state, ""),
  deliveries: [{ event, channelId, thread: undefined }]
})

const withPresence = (state: RelayState.RelayState, event: NostrEvent, now: number): RelayState.RelayState => ({
  ...state,
  presence:
    event.content === "offline"
      ? HashMap.remove(state.presence, event.pubkey)
      : HashMap.set(state.presence, event.pubkey, { status: event.content, at: now })
})

/** Carries out what the stored event means. */
const applied = (
  state: RelayState.RelayState,
  stored: EventStore.StoredEvent,
  effects: {
    readonly target: EventStore.StoredEvent | undefined
    readonly change: ChannelRules.ChannelChange | undefined
  },
  rules: RelayState.RelayRules,
  now: number
): Outcome => {
  const { change, target } = effects
  const cleared = target === undefined ? state : RelayState.withoutEvent(state, target.event.id)
  const changed = change === undefined ? cleared : RelayState.withChannel(cleared, change.channel)
  const said = saidByRelay(changed.store, stored, change, now).map(([template, channelId]) =>
    RelayVoice.signed(rules, template, channelId)
  )
  return {
    state: RelayVoice.withAll(changed, said),
    answer: { accepted: true, message: "", status: 200 },
    deliveries: [stored, ...said],
    changedChannel: change?.channel.id
  }
}

/** The relay's own events about this one, each with the channel it belongs to. */
const saidByRelay = (
  store: EventStore.EventStore,
  { channelId, event }: EventStore.StoredEvent,
  change: ChannelRules.ChannelChange | undefined,
  now: number
): ReadonlyArray<readonly [EventTemplate, string | undefined]> => {
  if (channelId === undefined) return []
  if (event.kind === EventKind.DeleteMessage) {
    const notice = { type: "message_deleted", actor: event.pubkey }
    return ChannelEvents.systemMessages(channelId, [notice], now).map(inChannel(channelId))
  }
  if (change === undefined) return []
  return [
    ...ChannelEvents.state(
      change.channel,
      RelayVoice.nextTime(store, { kinds: [EventKind.ChannelMetadata], "#h": [channelId] }, now)
    ).map(inChannel(channelId)),
    ...ChannelEvents.membershipNotices(change, event.pubkey, now).map((template) => [template, undefined] as const),
    ...ChannelEvents.systemMessages(channelId, change.notices, now).map(inChannel(channelId))
  ]
}

const inChannel = (channelId: string) => (template: EventTemplate) => [template, channelId] as const

const accepted = (state: RelayState.RelayState, message: string): Outcome => ({
  state,
  answer: { accepted: true, message, status: 200 },
  deliveries: [],
  changedChannel: undefined
})
