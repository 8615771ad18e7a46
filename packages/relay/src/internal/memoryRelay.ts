/** The state behind the relay double: channels, calls, planned faults. Membership as on a private channel. */
import { Clock, Effect, SubscriptionRef } from "effect"
import type { Actor, ChannelMember } from "../BuzzClient.ts"
import * as ChannelHistory from "../ChannelHistory.ts"
import { signEvent } from "../EventSigning.ts"
import type { FoundChannel } from "../FoundChannel.ts"
import type { Identity } from "../Identity.ts"
import type { EventTemplate, NostrEvent } from "../NostrEvent.ts"
import * as Observation from "../Observation.ts"
import * as OwnerAttestation from "../OwnerAttestation.ts"
import { RelayError, type RelayReason, RelayRefused } from "../RelayError.ts"
import type { ObserverStatus } from "../RelayObserver.ts"
import { pure } from "../Schnorr.ts"
import * as AppendLog from "./appendLog.ts"

/** One call of a method, as it was made. */
export interface MemoryCall<Method> {
  readonly method: Method
  readonly actor: Actor
  readonly argument: unknown
}

/** A private channel and its events in the order of sight. */
export interface MemoryChannel {
  readonly members: Array<ChannelMember>
  readonly log: AppendLog.AppendLog<Observation.Sighting, RelayError>
  readonly ids: Set<string>
  archived: boolean
}

/** `Method` names the methods that can be recorded and made to fail. */
export class MemoryRelay<Method extends string> {
  readonly calls: Array<MemoryCall<Method>> = []
  readonly faults: Array<{ readonly method: Method; readonly reason: RelayReason }> = []
  readonly channels = new Map<string, MemoryChannel>()
  readonly names = new Map<string, string>()
  /** As the relay describes them; `isArchived` is that of the channel. */
  readonly described = new Map<string, FoundChannel>()
  readonly status: SubscriptionRef.SubscriptionRef<ObserverStatus>
  private batch: number | undefined

  constructor(status: SubscriptionRef.SubscriptionRef<ObserverStatus>) {
    this.status = status
  }

  /** From the first observation on every event is a batch of its own; before, all are history. */
  beginObserving(): void {
    this.batch ??= Observation.INITIAL_BATCH
  }

  /** Records the call, then fails as planned or goes on. */
  called<A>(
    method: Method,
    actor: Actor,
    argument: unknown,
    body: Effect.Effect<A, RelayReason>
  ): Effect.Effect<A, RelayError> {
    return Effect.suspend((): Effect.Effect<A, RelayReason> => {
      this.calls.push({ method, actor, argument })
      const index = this.faults.findIndex((fault) => fault.method === method)
      const [fault] = index < 0 ? [] : this.faults.splice(index, 1)
      return fault === undefined ? body : Effect.fail(fault.reason)
    }).pipe(Effect.mapError((reason) => new RelayError({ operation: method, reason })))
  }

  /** The channel, made when it is not there. */
  channelAt(id: string): Effect.Effect<MemoryChannel> {
    return Effect.suspend(() => {
      const channel = this.channels.get(id)
      if (channel !== undefined) return Effect.succeed(channel)
      return Effect.map(AppendLog.make<Observation.Sighting, RelayError>(), (log) => {
        const created: MemoryChannel = { members: [], log, ids: new Set(), archived: false }
        this.channels.set(id, created)
        return created
      })
    })
  }

  store(channelId: string, event: NostrEvent): Effect.Effect<void> {
    return Effect.flatMap(this.channelAt(channelId), (channel) => {
      if (channel.ids.has(event.id)) return Effect.void
      channel.ids.add(event.id)
      if (this.batch !== undefined) this.batch += 1
      return channel.log.append([{ event, batch: this.batch ?? Observation.INITIAL_BATCH }])
    })
  }

  /** The channel, when this actor may write to it. */
  asMember(actor: Actor, channelId: string): Effect.Effect<MemoryChannel, RelayReason> {
    return Effect.suspend(() => {
      const channel = this.channels.get(channelId)
      if (channel === undefined || !isMember(channel, actor)) {
        return this.refuse(actor, "restricted: not a channel member", 400)
      }
      if (channel.archived) return this.refuse(actor, "invalid: channel is archived", 400)
      return Effect.succeed(channel)
    })
  }

  /** What this actor may read of the channel, in the order of sight. */
  visible(actor: Actor, channelId: string, kinds = ChannelHistory.KINDS): Effect.Effect<ReadonlyArray<NostrEvent>> {
    return Effect.suspend(() => {
      const channel = this.channels.get(channelId)
      if (channel === undefined || !isMember(channel, actor)) return Effect.succeed([])
      return Effect.map(channel.log.items, (sightings) =>
        sightings.map(({ event }) => event).filter((event) => kinds.includes(event.kind))
      )
    })
  }

  sign(identity: Identity, make: (now: number) => EventTemplate): Effect.Effect<NostrEvent> {
    return Effect.map(Clock.currentTimeMillis, (millis) => {
      const template = make(Math.floor(millis / 1000))
      const tags = [...template.tags, ...OwnerAttestation.eventTags(identity.authTag)]
      return signEvent(pure, { ...template, tags }, identity.secretKey)
    })
  }

  refuse(actor: Actor, detail: string, status?: number): Effect.Effect<never, RelayReason> {
    return Effect.fail(new RelayRefused({ url: actor.relayUrl, status, detail }))
  }
}

const isMember = (channel: MemoryChannel, actor: Actor): boolean =>
  channel.members.some(({ pubkey }) => pubkey === actor.identity.pubkey)
