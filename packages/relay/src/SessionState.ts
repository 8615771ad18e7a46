/**
 * The words of `Session`: the state of a client's connection to a relay, what can happen to it, what is then to be done, and
 * the limits that decide when. Values only.
 */
import type { RelayMessage } from "./internal/relayMessage.ts"

/** Where one connection stands. Times are milliseconds of the caller's clock. */
export type Phase =
  | { readonly _tag: "Offline" }
  | { readonly _tag: "AwaitingChallenge"; readonly since: number }
  | { readonly _tag: "Authenticating"; readonly since: number }
  | { readonly _tag: "Ready"; readonly authenticated: boolean }

/**
 * A subscription is `Parked` until it may be requested, `Requested` until the relay ended its stored events, then `Live`. It
 * is `Retrying` until `retryAt` after the relay closed it for no rule, or did not answer: a busy relay drops requests.
 */
export interface Subscription {
  readonly state: "Parked" | "Requested" | "Live" | "Retrying"
  /** When it was requested, or is to be requested again. */
  readonly at: number
  /** How often the relay closed it since the last end of stored events. */
  readonly closures: number
}

/** The state of one logical connection across its sockets. */
export interface Session {
  readonly phase: Phase
  readonly subscriptions: ReadonlyMap<string, Subscription>
  /** Events whose answer is awaited; `true` once the event was sent over this connection. */
  readonly publishes: ReadonlyMap<string, boolean>
  /** Id of the event that answered the last challenge. */
  readonly authEventId: string | undefined
  readonly everReady: boolean
  /** Refused authentications since the last one that was accepted. */
  readonly authRefusals: number
  readonly lastReceived: number
  readonly probeSentAt: number | undefined
}

/** What happened. */
export type Input =
  | { readonly _tag: "Opened"; readonly now: number }
  /** `message` is absent for a frame that is not the protocol: it still proves that the relay lives. */
  | { readonly _tag: "Received"; readonly now: number; readonly message: RelayMessage | undefined }
  | { readonly _tag: "ChallengeAnswered"; readonly eventId: string }
  | { readonly _tag: "Subscribed"; readonly now: number; readonly subscription: string }
  | { readonly _tag: "Unsubscribed"; readonly subscription: string }
  | { readonly _tag: "Published"; readonly eventId: string }
  | { readonly _tag: "PublishAbandoned"; readonly eventId: string }
  | { readonly _tag: "Ticked"; readonly now: number }
  | { readonly _tag: "Lost" }

/** What the caller is to do, in the order given. */
export type Action =
  | { readonly _tag: "AnswerChallenge"; readonly challenge: string }
  | { readonly _tag: "BecomeReady" }
  | { readonly _tag: "Request"; readonly subscription: string }
  | { readonly _tag: "Close"; readonly subscription: string }
  | { readonly _tag: "Transmit"; readonly eventId: string }
  | { readonly _tag: "Probe" }
  | { readonly _tag: "Deliver"; readonly subscription: string; readonly event: unknown }
  | { readonly _tag: "DeliverEndOfStored"; readonly subscription: string }
  | { readonly _tag: "RefuseSubscription"; readonly subscription: string; readonly detail: string }
  | { readonly _tag: "Acknowledge"; readonly eventId: string; readonly accepted: boolean; readonly message: string }
  | { readonly _tag: "Notice"; readonly message: string }
  /** Drop this connection and open another. */
  | { readonly _tag: "Reconnect"; readonly detail: string }
  /** The relay does not take this identity: no further connection would help. */
  | { readonly _tag: "GiveUp"; readonly detail: string }

/** The next state and what to do. */
export type Step = readonly [Session, ReadonlyArray<Action>]

/** How long to wait for a challenge before going on without: relays that want authentication send it at once. */
export const CHALLENGE_GRACE_MILLIS = 2_000
/** A relay that does not answer within this time is taken for dead. The `buzz` program waits as long. */
export const REPLY_TIMEOUT_MILLIS = 10_000
/** Silence after which the relay is asked for a sign of life. */
export const HEARTBEAT_MILLIS = 15_000
/** After this many refusals in a row a relay that once accepted the identity is believed. */
export const MAX_AUTH_REFUSALS = 3
/** Subscription id of the sign of life: a filter that matches nothing, answered by its end of stored events. */
export const PROBE = "heartbeat"

/** Before the first connection. */
export const initial: Session = {
  phase: { _tag: "Offline" },
  subscriptions: new Map(),
  publishes: new Map(),
  authEventId: undefined,
  everReady: false,
  authRefusals: 0,
  lastReceived: 0,
  probeSentAt: undefined
}
