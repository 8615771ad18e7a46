/**
 * Performs the actions of `Session` for one `RelayConnection`: a mutable cell that is changed synchronously only, so that
 * no two fibers see a half-made step. Frames leave through the outbox of the current link and nowhere else; what was meant
 * for a link that broke is forgotten with it, and `Session` asks again.
 */
import { Cause, Deferred, Effect, Exit, Queue, Result } from "effect"
import { verifyEvent } from "../EventSigning.ts"
import * as EventKind from "../EventKind.ts"
import type { Filter } from "../Filter.ts"
import type { Identity } from "../Identity.ts"
import * as Nip42 from "../Nip42.ts"
import type { NostrEvent } from "../NostrEvent.ts"
import { RelayAuthRefused, RelayError, type RelayReason, RelayRefused, RelayUnreachable } from "../RelayError.ts"
import type { SchnorrOps } from "../Schnorr.ts"
import * as Session from "../Session.ts"
import * as SessionState from "../SessionState.ts"
import { decodeEventValue } from "./decodeEvent.ts"
import * as Message from "./relayMessage.ts"

/**
 * One item of a subscription. `Requested` stands at its beginning and at every repetition after a lost connection: the
 * stored events and their end come again then, and who counts, counts by id.
 */
export type SubscriptionItem =
  | { readonly _tag: "Requested" }
  | { readonly _tag: "Event"; readonly event: NostrEvent }
  | { readonly _tag: "EndOfStored" }

/** The relay's answer to a published event. */
export interface PublishResult {
  readonly accepted: boolean
  /** The relay's reason, or the empty text. */
  readonly message: string
}

/** One socket's life. */
export interface Link {
  readonly outbox: Queue.Queue<string>
  /** Fails with the reason when the session wants this link gone. */
  readonly dropped: Deferred.Deferred<never, string>
  /** One item when a deadline came to lie before the one that is slept for. */
  readonly sooner: Queue.Queue<void>
}

/** What the engine needs from its surroundings; all of it is synchronous. */
export interface EngineOptions {
  /** ws or wss. */
  readonly url: string
  readonly identity: Identity
  readonly schnorr: SchnorrOps
  /** Milliseconds. */
  readonly now: () => number
  readonly onReady: () => void
  /** A sentence for the log: notices of the relay, events that were dropped. */
  readonly onWarning: (text: string) => void
}

/** Filters, or how to get them at every (re)connection. */
export type Filters = ReadonlyArray<Filter> | (() => ReadonlyArray<Filter>)
type ItemQueue = Queue.Queue<SubscriptionItem, RelayError | Cause.Done>

/** One per connection. */
export class ConnectionEngine {
  private session = SessionState.initial
  private link: Link | undefined
  private sleepsUntil = 0
  private over: RelayError | undefined
  private readonly subscriptions = new Map<string, { readonly filters: Filters; readonly queue: ItemQueue }>()
  private readonly publishes = new Map<
    string,
    { readonly event: NostrEvent; readonly done: Deferred.Deferred<PublishResult, RelayError> }
  >()
  private readonly options: EngineOptions

  constructor(options: EngineOptions) {
    this.options = options
  }

  /** Why nothing will be tried any more, once that is so. */
  get end(): RelayError | undefined {
    return this.over
  }

  get everReady(): boolean {
    return this.session.everReady
  }

  attach(link: Link): void {
    this.link = link
    this.apply({ _tag: "Opened", now: this.options.now() })
  }

  detach(): void {
    this.link = undefined
    this.apply({ _tag: "Lost" })
  }

  receive(frame: string): void {
    const message = Message.parse(frame)
    if (message === undefined) this.options.onWarning("the relay sent a frame that is not the protocol")
    this.apply({ _tag: "Received", now: this.options.now(), message })
  }

  /** Looks at the deadlines, and returns how long to sleep before the next look unless `sooner` says otherwise. */
  tick(): number {
    const now = this.options.now()
    this.apply({ _tag: "Ticked", now })
    this.sleepsUntil = Session.nextDeadline(this.session)
    return Math.min(Math.max(this.sleepsUntil - now, SHORTEST_SLEEP_MILLIS), LONGEST_SLEEP_MILLIS)
  }

  subscribe(id: string, filters: Filters, queue: ItemQueue): void {
    if (this.over !== undefined) {
      Queue.failCauseUnsafe(queue, Cause.fail(this.over))
      return
    }
    // A mistake of the program: the relay would silently replace the first subscription.
    if (this.subscriptions.has(id)) throw new Error(`subscription id ${id} is in use on this connection`)
    this.subscriptions.set(id, { filters, queue })
    this.apply({ _tag: "Subscribed", now: this.options.now(), subscription: id })
  }

  unsubscribe(id: string, queue: ItemQueue): void {
    if (this.subscriptions.get(id)?.queue !== queue) return
    this.subscriptions.delete(id)
    this.apply({ _tag: "Unsubscribed", subscription: id })
  }

  publish(event: NostrEvent): Deferred.Deferred<PublishResult, RelayError> {
    const running = this.publishes.get(event.id)
    if (running !== undefined) return running.done
    const done = Deferred.makeUnsafe<PublishResult, RelayError>()
    if (this.over !== undefined) {
      Deferred.doneUnsafe(done, Exit.fail(this.over))
      return done
    }
    this.publishes.set(event.id, { event, done })
    this.apply({ _tag: "Published", eventId: event.id })
    return done
  }

  abandon(eventId: string): void {
    if (this.publishes.delete(eventId)) this.apply({ _tag: "PublishAbandoned", eventId })
  }

  /** Ends every subscription and publish. Only the first reason counts. */
  terminate(reason: RelayReason): void {
    if (this.over !== undefined) return
    this.over = new RelayError({ operation: "RelayConnection", reason })
    for (const { queue } of this.subscriptions.values()) Queue.failCauseUnsafe(queue, Cause.fail(this.over))
    for (const { done } of this.publishes.values()) Deferred.doneUnsafe(done, Exit.fail(this.over))
    this.subscriptions.clear()
    this.publishes.clear()
  }

  /** The connection's scope was closed. */
  close(): void {
    this.terminate(new RelayUnreachable({ url: this.options.url, detail: "the connection was closed" }))
  }

  private apply(input: SessionState.Input): void {
    const [session, actions] = Session.step(this.session, input)
    this.session = session
    for (const action of actions) this.perform(action)
    if (this.link !== undefined && Session.nextDeadline(this.session) < this.sleepsUntil) {
      Queue.offerUnsafe(this.link.sooner, undefined)
    }
  }

  private perform(action: SessionState.Action): void {
    switch (action._tag) {
      case "AnswerChallenge":
        return this.answer(action.challenge)
      case "BecomeReady":
        return this.options.onReady()
      case "Request":
        return this.request(action.subscription)
      case "Close":
        return this.send(["CLOSE", action.subscription])
      case "Transmit": {
        const publish = this.publishes.get(action.eventId)
        return publish === undefined ? undefined : this.send(["EVENT", publish.event])
      }
      case "Probe":
        return this.send(["REQ", SessionState.PROBE, NOTHING])
      case "Deliver":
        return this.deliver(action.subscription, action.event)
      case "DeliverEndOfStored":
        return this.offer(action.subscription, { _tag: "EndOfStored" })
      case "RefuseSubscription":
        return this.refuse(action.subscription, action.detail)
      case "Acknowledge":
        return this.acknowledge(action.eventId, { accepted: action.accepted, message: action.message })
      case "Notice":
        return this.options.onWarning(`notice of the relay: ${action.message}`)
      case "Reconnect":
        return this.drop(action.detail)
      case "GiveUp": {
        const { url, identity } = this.options
        this.terminate(new RelayAuthRefused({ url, pubkey: identity.pubkey, detail: action.detail }))
        return this.drop(action.detail)
      }
    }
  }

  private answer(challenge: string): void {
    const { schnorr, identity, url, now } = this.options
    const event = Nip42.authEvent(schnorr, identity, { relayUrl: url, challenge, now: Math.floor(now() / 1000) })
    this.apply({ _tag: "ChallengeAnswered", eventId: event.id })
    this.send(["AUTH", event])
  }

  private request(id: string): void {
    const subscription = this.subscriptions.get(id)
    if (subscription === undefined) return
    const { filters } = subscription
    this.offer(id, { _tag: "Requested" })
    this.send(["REQ", id, ...(typeof filters === "function" ? filters() : filters)])
  }

  private deliver(id: string, value: unknown): void {
    const decoded = decodeEventValue(value)
    if (Result.isFailure(decoded) || !verifyEvent(this.options.schnorr, decoded.success)) {
      this.options.onWarning(`dropped an event whose id or signature does not verify (subscription ${id})`)
      return
    }
    this.offer(id, { _tag: "Event", event: decoded.success })
  }

  private offer(id: string, item: SubscriptionItem): void {
    const subscription = this.subscriptions.get(id)
    if (subscription !== undefined) Queue.offerUnsafe(subscription.queue, item)
  }

  private refuse(id: string, detail: string): void {
    const subscription = this.subscriptions.get(id)
    if (subscription === undefined) return
    this.subscriptions.delete(id)
    const reason = new RelayRefused({ url: this.options.url, status: undefined, detail })
    const error = new RelayError({ operation: "RelayConnection.subscribe", reason })
    Queue.failCauseUnsafe(subscription.queue, Cause.fail(error))
  }

  private acknowledge(eventId: string, result: PublishResult): void {
    const publish = this.publishes.get(eventId)
    if (publish === undefined) return
    this.publishes.delete(eventId)
    Deferred.doneUnsafe(publish.done, Exit.succeed(result))
  }

  private send(message: Message.ClientMessage): void {
    if (this.link !== undefined) Queue.offerUnsafe(this.link.outbox, Message.encode(message))
  }

  private drop(detail: string): void {
    if (this.link !== undefined) Deferred.doneUnsafe(this.link.dropped, Effect.fail(detail))
  }
}

/** Deadlines are seconds apart; what misses one by so little does not matter. */
const SHORTEST_SLEEP_MILLIS = 50
const LONGEST_SLEEP_MILLIS = 60_000

/** Kinds and ids are given because a relay refuses filters that could match what only others may read. */
const NOTHING: Filter = { kinds: [EventKind.Message], ids: ["0".repeat(64)], limit: 1 }
