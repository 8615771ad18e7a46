/**
 * Watches a team until `Completion` says that it is over: decides again whenever something changed, and at the time the last
 * decision asked for.
 */
import type { Actor, BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import type { RelayError } from "@buzz-orchestra/relay/RelayError"
import type { ChannelObservation, ObserverStatus } from "@buzz-orchestra/relay/RelayObserver"
import type { TrialHandle } from "@buzz-orchestra/relay/TrialHandle"
import { Clock, Effect, Queue, Ref, Schedule, Stream } from "effect"
import type { StackFailure, Supervision } from "../AgentSupervisor.ts"
import * as Completion from "../Completion.ts"
import * as Delivery from "../Delivery.ts"
import {
  type ObservationRefused,
  RelayLost,
  type RelayUrlUnusable,
  type SubscriptionFailed
} from "../RuntimeLaunchError.ts"
import type { ScriptedEvent } from "../TaskFixture.ts"
import * as TeamState from "../TeamState.ts"
import type { TrialRecord } from "../TrialRecord.ts"
import type { ChannelView } from "./channelView.ts"
import { ofObservation } from "./foreignReason.ts"

/** Between two attempts to read the channel, growing to this. */
const READ_AGAIN = Schedule.min([Schedule.exponential("200 millis"), Schedule.spaced("5 seconds")]).pipe(
  Schedule.jittered
)

export interface ObserveOptions {
  readonly handle: TrialHandle
  readonly team: Completion.Team
  /** The user, as whom everything is observed. */
  readonly actor: Actor
  readonly client: Pick<BuzzClient["Service"], "readChannel">
  readonly observation: ChannelObservation
  readonly channel: ChannelView
  readonly supervision: Supervision
  readonly record: TrialRecord
  readonly task: NostrEvent
  /** When the task was posted, milliseconds since the epoch; the budget runs from then. */
  readonly postedMillis: number
  readonly budgetMillis: number
  /** What the task's script said. */
  readonly scripted: ReadonlyArray<ScriptedEvent>
  /** The limit of tokens or money that is used up, in words. */
  readonly overBudget: (team: TeamState.TeamState) => string | undefined
}

/** How the observation ended. */
export type Ended = Extract<Completion.CompletionDecision, { readonly _tag: "Ended" }>

/** Everything that ends it otherwise. */
export type ObserveFailure = StackFailure | SubscriptionFailed | ObservationRefused | RelayUrlUnusable | RelayLost

/** Watches until the end. What the relay does in between is a warning, unless it refuses for good. */
export const observeTrial = Effect.fnUntraced(function* (
  options: ObserveOptions
): Effect.fn.Return<Ended, ObserveFailure> {
  const { channel, handle, observation, record, supervision } = options
  // One place: whatever happens while a decision is made, it is made once more and not more often.
  const changed = yield* Queue.sliding<void>(1)
  const toRead = yield* Queue.sliding<void>(1)
  const readMillis = yield* Ref.make<number | undefined>(undefined)
  const overBudget = yield* Ref.make<Completion.CompletionInput["overBudget"]>(undefined)
  const link = yield* Ref.make<Link>({ status: { _tag: "Connected", attempt: 1 }, lastGood: 1 })
  const unread = yield* Ref.make<Unread | undefined>(undefined)
  const poke = Effect.asVoid(Queue.offer(changed, undefined))

  const refused = ({ reason }: RelayError) =>
    ofObservation(reason, { relay: options.actor.relayUrl, channelId: handle.channelId })

  const follow = Stream.runForEach(observation.events, (event) => Effect.andThen(channel.see(event), poke)).pipe(
    Effect.mapError(refused),
    // The observation lives as long as its scope: an end without an error is no news.
    Effect.andThen(Effect.never)
  )
  const followTeam = Effect.andThen(
    Stream.runForEach(supervision.changes, () => poke),
    Effect.never
  )
  const followStatus = Stream.runForEach(
    observation.status,
    Effect.fnUntraced(function* (status) {
      const before = yield* Ref.get(link)
      yield* Ref.set(link, { status, lastGood: status._tag === "Connected" ? status.attempt : before.lastGood })
      yield* tellStatus(record, before, status)
    })
  ).pipe(Effect.andThen(Effect.never))

  const read = Effect.gen(function* () {
    yield* Queue.take(toRead)
    const { begun, events } = yield* readChannel(options, unread)
    // The task was accepted before anything of this reading existed; stale is what was seen before it.
    yield* channel.see(options.task)
    yield* Effect.forEach(events, (event) => channel.see(event), { discard: true })
    yield* Ref.set(readMillis, begun)
    yield* poke
  })

  const decide = Effect.gen(function* () {
    let told = ""
    for (;;) {
      const decision = Completion.decide(yield* inputOf(options, yield* Ref.get(readMillis), overBudget))
      if (decision._tag === "Ended")
        return yield* ended(options, decision, yield* Ref.get(link), yield* Ref.get(unread))
      if (decision.sentence !== told) {
        told = decision.sentence
        const deadlineAt = options.postedMillis + options.budgetMillis
        yield* record.publish({ _tag: "Waiting", sentence: told, deadlineAt })
      }
      if (decision.readChannel) yield* Queue.offer(toRead, undefined)
      const wait = decision.recheckAtMillis - (yield* Clock.currentTimeMillis)
      yield* Effect.timeoutOption(Queue.take(changed), Math.max(0, wait))
    }
  })

  return yield* Effect.raceAllFirst([
    decide,
    follow,
    followTeam,
    followStatus,
    Effect.forever(read),
    supervision.awaitDeath,
    supervision.awaitRefusal
  ])
})

const inputOf = Effect.fnUntraced(function* (
  options: ObserveOptions,
  channelReadMillis: number | undefined,
  overBudget: Ref.Ref<Completion.CompletionInput["overBudget"]>
) {
  const { channel, handle, postedMillis, supervision, task, team } = options
  const nowMillis = yield* Clock.currentTimeMillis
  const state = yield* supervision.state
  const used = options.overBudget(state)
  const { events, lastMillis } = yield* channel.seen
  const undelivered = Delivery.undelivered(state.delivery)
  const orchestrator = handle.credentials.find(({ agentId }) => agentId === team.orchestratorId)
  const input: Completion.CompletionInput = {
    roster: team,
    states: TeamState.states(state),
    done: Completion.findDone(events, {
      taskEventId: task.id,
      orchestrator: orchestrator?.identity.pubkey ?? ""
    }),
    undelivered,
    unheard: unheard(options, events, undelivered),
    lastMessageMillis: lastMillis,
    channelReadMillis,
    overBudget: yield* Ref.updateAndGet(
      overBudget,
      (before) => before ?? (used === undefined ? undefined : { detail: used, sinceMillis: nowMillis })
    ),
    nowMillis,
    deadlineMillis: postedMillis + options.budgetMillis
  }
  return input
})

/** A message of the script is heard once it was seen in the channel and is on its way to nobody. */
const unheard = (
  { scripted }: ObserveOptions,
  events: ReadonlyArray<NostrEvent>,
  undelivered: ReadonlyArray<Delivery.Mention>
): Completion.CompletionInput["unheard"] => {
  if (scripted.length === 0) return undefined
  const seen = new Set(events.map(({ id }) => id))
  const waiting = new Set(undelivered.map(({ eventId }) => eventId))
  return scripted.map(({ eventId }) => eventId).filter((id) => !seen.has(id) || waiting.has(id))
}

/** The connection to the relay. */
interface Link {
  readonly status: ObserverStatus
  /** Number of the last connection that was made. */
  readonly lastGood: number
}

/** Connections tried since the last good one, with the one under way. */
const attemptsOf = ({ lastGood, status }: Link): number => status.attempt - lastGood

/** Readings of the channel that failed in a row. */
interface Unread {
  readonly attempts: number
  readonly detail: string
}

/** A budget that ran out while the relay was away, or would not let the channel be read, says nothing about the team. */
const ended = (options: ObserveOptions, decision: Ended, link: Link, unread: Unread | undefined) =>
  Effect.gen(function* () {
    const { status } = link
    const lost = status._tag === "Connected" ? unread : { attempts: attemptsOf(link), detail: status.detail }
    if (decision.outcome !== "timed-out" || lost === undefined) return decision
    const elapsedMillis = (yield* Clock.currentTimeMillis) - options.postedMillis
    return yield* new RelayLost({
      relay: options.actor.relayUrl,
      deadline: { configuredMillis: options.budgetMillis, elapsedMillis },
      ...lost
    })
  })

/**
 * The whole channel, and when reading it was begun. It never fails, because only the end of the observation is the relay's
 * last word: a reading that meets trouble, refusals included, is tried again for as long as the budget lasts.
 */
const readChannel = Effect.fnUntraced(function* (options: ObserveOptions, unread: Ref.Ref<Unread | undefined>) {
  const { actor, client, handle, record } = options
  const reading = yield* Effect.gen(function* () {
    const begun = yield* Clock.currentTimeMillis
    return { begun, events: yield* client.readChannel(actor, handle.channelId) }
  }).pipe(
    Effect.tapError(
      Effect.fnUntraced(function* ({ message }) {
        const attempts = ((yield* Ref.get(unread))?.attempts ?? 0) + 1
        yield* Ref.set(unread, { attempts, detail: message })
        // A relay that stays away for hours would fill the summary with the same sentence.
        if (attempts === 1) yield* record.warn(`the channel could not be read, trying again: ${message}`)
      })
    ),
    Effect.retry({ schedule: READ_AGAIN }),
    // The schedule has no end, so there is no failure left.
    Effect.orDie
  )
  const failed = yield* Ref.getAndSet(unread, undefined)
  if (failed !== undefined) yield* record.warn(`the channel was read after ${failed.attempts} failed attempts`)
  return reading
})

const tellStatus = (record: TrialRecord, before: Link, next: ObserverStatus): Effect.Effect<void> => {
  const was = before.status._tag
  if (next._tag === "Reconnecting" && was === "Connected")
    return record.warn(`the connection to the relay broke, connecting again: ${next.detail}`)
  if (next._tag === "Connected" && was === "Reconnecting") {
    const attempts = attemptsOf({ ...before, status: next })
    return record.warn(`connected to the relay again in ${attempts} ${attempts === 1 ? "attempt" : "attempts"}`)
  }
  return Effect.void
}
