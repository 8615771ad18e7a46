/**
 * What a client does when something happens on its connection to a relay: a pure table from (state, input) to (state,
 * actions). It knows subscriptions and publishes by id only; filters, events, sockets and clocks belong to
 * `RelayConnection`, which performs the actions.
 */
import type { RelayMessage } from "./internal/relayMessage.ts"
import {
  type Action,
  CHALLENGE_GRACE_MILLIS,
  HEARTBEAT_MILLIS,
  type Input,
  MAX_AUTH_REFUSALS,
  type Phase,
  PROBE,
  REPLY_TIMEOUT_MILLIS,
  type Session,
  type Step,
  type Subscription
} from "./SessionState.ts"

/** The table: total, pure, and silent about everything that changes nothing. */
export const step = (session: Session, input: Input): Step => {
  switch (input._tag) {
    case "Opened":
      return [opened(session, input.now), []]
    case "Lost":
      return [{ ...session, phase: { _tag: "Offline" } }, []]
    case "ChallengeAnswered":
      return [{ ...session, authEventId: input.eventId }, []]
    case "Subscribed":
      return flush({ ...session, subscriptions: assoc(session.subscriptions, input.subscription, PARKED) }, input.now)
    case "Unsubscribed":
      return [
        { ...session, subscriptions: without(session.subscriptions, input.subscription) },
        isAsked(session.subscriptions.get(input.subscription))
          ? [{ _tag: "Close", subscription: input.subscription }]
          : []
      ]
    case "Published":
      return flush({ ...session, publishes: assoc(session.publishes, input.eventId, false) })
    case "PublishAbandoned":
      return [{ ...session, publishes: without(session.publishes, input.eventId) }, []]
    case "Ticked":
      return ticked(session, input.now)
    case "Received": {
      if (session.phase._tag === "Offline") return [session, []]
      const alive: Session = { ...session, lastReceived: input.now, probeSentAt: undefined }
      return input.message === undefined ? [alive, []] : received(alive, input.message, input.now)
    }
  }
}

/** When `Ticked` may next change something, if nothing else happens before; milliseconds, `Infinity` for never. */
export const nextDeadline = (session: Session): number => {
  const { phase } = session
  switch (phase._tag) {
    case "Offline":
      return Number.POSITIVE_INFINITY
    case "AwaitingChallenge":
      return phase.since + CHALLENGE_GRACE_MILLIS
    case "Authenticating":
      return phase.since + REPLY_TIMEOUT_MILLIS
    case "Ready": {
      let next =
        session.probeSentAt === undefined
          ? session.lastReceived + HEARTBEAT_MILLIS
          : session.probeSentAt + REPLY_TIMEOUT_MILLIS
      for (const { at, state } of session.subscriptions.values()) {
        if (state === "Retrying") next = Math.min(next, at)
        if (state === "Requested") next = Math.min(next, at + REPLY_TIMEOUT_MILLIS)
      }
      return next
    }
  }
}

const PARKED: Subscription = { state: "Parked", at: 0, closures: 0 }

const isAsked = (subscription: Subscription | undefined): boolean =>
  subscription?.state === "Requested" || subscription?.state === "Live"

/** A new connection knows nothing of the last one: everything is asked and sent again. */
const opened = (session: Session, now: number): Session => ({
  ...session,
  phase: { _tag: "AwaitingChallenge", since: now },
  subscriptions: mapValues(session.subscriptions, () => PARKED),
  publishes: mapValues(session.publishes, () => false),
  authEventId: undefined,
  lastReceived: now,
  probeSentAt: undefined
})

const received = (session: Session, message: RelayMessage, now: number): Step => {
  switch (message._tag) {
    case "Event":
      return session.subscriptions.has(message.subscription)
        ? [session, [{ _tag: "Deliver", subscription: message.subscription, event: message.event }]]
        : [session, []]
    case "Eose":
      return endOfStored(session, message.subscription)
    case "Closed":
      return closed(session, message.subscription, message.message, now)
    case "Ok":
      return message.eventId === session.authEventId
        ? authAnswered(session, message.accepted, message.message)
        : publishAnswered(session, message.eventId, message.accepted, message.message)
    case "Notice":
      return [session, [{ _tag: "Notice", message: message.message }]]
    case "Auth": {
      // A challenge in the middle of a session is answered too; what is subscribed stays so.
      const phase: Phase = session.phase._tag === "Ready" ? session.phase : { _tag: "Authenticating", since: now }
      return [{ ...session, phase }, [{ _tag: "AnswerChallenge", challenge: message.challenge }]]
    }
  }
}

const authAnswered = (session: Session, accepted: boolean, detail: string): Step => {
  if (accepted || detail.includes("already authenticated")) {
    return becomeReady({ ...session, authRefusals: 0, authEventId: undefined }, true)
  }
  const authRefusals = session.authRefusals + 1
  const final = !session.everReady || isRule(detail) || authRefusals >= MAX_AUTH_REFUSALS
  return dropped({ ...session, authRefusals }, final ? { _tag: "GiveUp", detail } : { _tag: "Reconnect", detail })
}

const publishAnswered = (session: Session, eventId: string, accepted: boolean, message: string): Step => {
  if (!session.publishes.has(eventId)) return [session, []]
  if (!accepted && isAuthRequired(message)) {
    return isAuthenticated(session)
      ? dropped(session, { _tag: "Reconnect", detail: message })
      : [{ ...session, publishes: assoc(session.publishes, eventId, false) }, []]
  }
  return [
    { ...session, publishes: without(session.publishes, eventId) },
    [{ _tag: "Acknowledge", eventId, accepted, message }]
  ]
}

const endOfStored = (session: Session, id: string): Step => {
  if (id === PROBE) return [session, [{ _tag: "Close", subscription: PROBE }]]
  const subscription = session.subscriptions.get(id)
  if (subscription === undefined) return [session, []]
  return [
    { ...session, subscriptions: assoc(session.subscriptions, id, { ...subscription, state: "Live", closures: 0 }) },
    [{ _tag: "DeliverEndOfStored", subscription: id }]
  ]
}

const closed = (session: Session, id: string, detail: string, now: number): Step => {
  const subscription = session.subscriptions.get(id)
  if (subscription === undefined) return [session, []]
  if (isAuthRequired(detail)) {
    return isAuthenticated(session)
      ? dropped(session, { _tag: "Reconnect", detail })
      : [{ ...session, subscriptions: assoc(session.subscriptions, id, PARKED) }, []]
  }
  if (isRule(detail)) {
    return [
      { ...session, subscriptions: without(session.subscriptions, id) },
      [{ _tag: "RefuseSubscription", subscription: id, detail }]
    ]
  }
  return [{ ...session, subscriptions: assoc(session.subscriptions, id, retrying(subscription, now)) }, []]
}

/** A relay that does not serve for a passing reason is asked again, ever more slowly, so that it is not asked in a loop. */
const retrying = (subscription: Subscription, now: number): Subscription => {
  const closures = subscription.closures + 1
  return { state: "Retrying", at: now + Math.min(500 * 2 ** closures, 30_000), closures }
}

const ticked = (session: Session, now: number): Step => {
  const { phase } = session
  switch (phase._tag) {
    case "Offline":
      return [session, []]
    case "AwaitingChallenge":
      return now - phase.since >= CHALLENGE_GRACE_MILLIS ? becomeReady(session, false) : [session, []]
    case "Authenticating":
      return now - phase.since >= REPLY_TIMEOUT_MILLIS
        ? dropped(session, { _tag: "Reconnect", detail: "no answer to the authentication" })
        : [session, []]
    case "Ready": {
      if (session.probeSentAt !== undefined) {
        return now - session.probeSentAt >= REPLY_TIMEOUT_MILLIS
          ? dropped(session, { _tag: "Reconnect", detail: "no sign of life" })
          : flush(wake(session, now), now)
      }
      if (now - session.lastReceived < HEARTBEAT_MILLIS) return flush(wake(session, now), now)
      const [next, actions] = flush(wake({ ...session, probeSentAt: now }, now), now)
      return [next, [...actions, { _tag: "Probe" }]]
    }
  }
}

const becomeReady = (session: Session, authenticated: boolean): Step => {
  const [next, actions] = flush({ ...session, phase: { _tag: "Ready", authenticated }, everReady: true })
  return [next, [{ _tag: "BecomeReady" }, ...actions]]
}

/** Requests and sends what waits, once the connection is ready. Without `now`, something was received just then. */
const flush = (session: Session, now = session.lastReceived): Step => {
  if (session.phase._tag !== "Ready") return [session, []]
  const actions: Array<Action> = []
  const subscriptions = mapValues(session.subscriptions, (subscription, id) => {
    if (subscription.state !== "Parked") return subscription
    actions.push({ _tag: "Request", subscription: id })
    return { ...subscription, state: "Requested" as const, at: now }
  })
  const publishes = mapValues(session.publishes, (sent, eventId) => {
    if (!sent) actions.push({ _tag: "Transmit", eventId })
    return true
  })
  return actions.length === 0 ? [session, actions] : [{ ...session, subscriptions, publishes }, actions]
}

/** Parks the subscriptions whose pause is over, and gives those a pause that the relay did not answer. */
const wake = (session: Session, now: number): Session => ({
  ...session,
  subscriptions: mapValues(session.subscriptions, (subscription) => {
    if (subscription.state === "Retrying" && subscription.at <= now) {
      return { ...subscription, state: "Parked" as const }
    }
    const isUnanswered = subscription.state === "Requested" && subscription.at + REPLY_TIMEOUT_MILLIS <= now
    return isUnanswered ? retrying(subscription, now) : subscription
  })
})

const dropped = (session: Session, action: Action): Step => [{ ...session, phase: { _tag: "Offline" } }, [action]]

const isAuthenticated = (session: Session): boolean => session.phase._tag === "Ready" && session.phase.authenticated

const isAuthRequired = (detail: string): boolean => detail.startsWith("auth-required")

/** Prefixes (NIP-01) of a decision that asking again does not change. */
const isRule = (detail: string): boolean => /^(restricted|blocked|invalid|unsupported|pow)\b/.test(detail)

const assoc = <A>(map: ReadonlyMap<string, A>, key: string, value: A): ReadonlyMap<string, A> =>
  new Map(map).set(key, value)

const without = <A>(map: ReadonlyMap<string, A>, key: string): ReadonlyMap<string, A> => {
  const next = new Map(map)
  next.delete(key)
  return next
}

const mapValues = <A>(map: ReadonlyMap<string, A>, f: (value: A, key: string) => A): ReadonlyMap<string, A> =>
  new Map(Array.from(map, ([key, value]) => [key, f(value, key)] as const))
