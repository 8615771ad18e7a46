/**
 * The WebSocket protocol as a state machine: a connection opens, says something or ends; the result is the new state
 * and what to send, to this connection and to others. Sends nothing itself.
 */
import { HashMap, Result } from "effect"
import type { NostrEvent } from "../NostrEvent.ts"
import * as Nip42 from "../Nip42.ts"
import * as ClientMessage from "./ClientMessage.ts"
import * as Connections from "./Connections.ts"
import { type Outgoing, frame } from "./Delivery.ts"
import * as Publish from "./Publish.ts"
import * as Query from "./Query.ts"
import * as ReadRules from "./ReadRules.ts"
import * as RelayState from "./RelayState.ts"
import * as Subscriptions from "./Subscriptions.ts"

/** A new state and what is to be done about it, and what instead where the new state cannot be saved. */
export type Step = readonly [
  state: RelayState.RelayState,
  outgoing: ReadonlyArray<Outgoing>,
  instead?: ReadonlyArray<Outgoing>
]

/** A connection opened. `id` is new, `challenge` is fresh randomness, 64 hex; `urls` as `Hosts.urlsFor` has them. */
export const open = (
  state: RelayState.RelayState,
  id: number,
  { challenge, urls }: Pick<Connections.Connection, "challenge" | "urls">
): Step => [
  withConnection(state, id, { challenge, urls, auth: { _tag: "Waiting" }, subscriptions: NO_SUBSCRIPTIONS }),
  reply(id, frame("AUTH", challenge))
]

const NO_SUBSCRIPTIONS: Connections.Connection["subscriptions"] = new Map()

/** A connection ended. The presence of its key ends with the key's last connection. */
export const close = (state: RelayState.RelayState, id: number): RelayState.RelayState => {
  const auth = Connections.get(state.connections, id)?.auth
  const connections = Connections.remove(state.connections, id)
  if (auth?._tag !== "Passed") return { ...state, connections }
  const isStillHere = HashMap.some(
    connections.byId,
    (other) => other.auth._tag === "Passed" && other.auth.pubkey === auth.pubkey
  )
  return { ...state, connections, presence: isStillHere ? state.presence : HashMap.remove(state.presence, auth.pubkey) }
}

/** A frame arrived as text. `now` in seconds. */
export const receive = (
  state: RelayState.RelayState,
  rules: RelayState.RelayRules,
  from: { readonly id: number; readonly text: string },
  now: number
): Step => {
  const { id, text } = from
  const connection = Connections.get(state.connections, id)
  if (connection === undefined) return [state, []]
  return Result.match(ClientMessage.parse(text), {
    onFailure: (detail): Step => [
      state,
      reply(id, frame("NOTICE", `invalid message: Invalid message format: ${detail}`))
    ],
    onSuccess: (message): Step => {
      if (message._tag === "Auth") return authenticate(state, rules, { id, connection, event: message.event }, now)
      if (message._tag === "Close") return unsubscribe(state, id, message.id)
      if (connection.auth._tag !== "Passed") return [state, reply(id, ...refuseStranger(message))]
      const { pubkey } = connection.auth
      switch (message._tag) {
        case "Event":
          return publish(state, rules, { id, pubkey, event: message.event }, now)
        case "Req":
          return subscribe(state, { id, connection, pubkey }, message)
        case "Count":
          return [state, reply(id, countOrRefuse(state, pubkey, message))]
      }
    }
  })
}

/** The relay's text for troubles of its own. */
const NOT_SAVED = "error: internal server error"

type Request = Extract<ClientMessage.ClientMessage, { readonly filters: unknown }>

const reply = (to: number, ...frames: ReadonlyArray<string>): ReadonlyArray<Outgoing> => [{ to, frames }]

const withConnection = (
  state: RelayState.RelayState,
  id: number,
  connection: Connections.Connection
): RelayState.RelayState => ({ ...state, connections: Connections.set(state.connections, id, connection) })

const refuseStranger = (message: Request | { readonly _tag: "Event"; readonly event: NostrEvent }) => {
  switch (message._tag) {
    case "Event":
      return [frame("OK", message.event.id, false, "auth-required: not authenticated")]
    case "Req":
      return [
        frame("NOTICE", "auth-required: authenticate before subscribing"),
        frame("CLOSED", message.id, "auth-required: not authenticated")
      ]
    case "Count":
      return [frame("CLOSED", message.id, "auth-required: not authenticated")]
  }
}

const authenticate = (
  state: RelayState.RelayState,
  rules: RelayState.RelayRules,
  from: { readonly id: number; readonly connection: Connections.Connection; readonly event: NostrEvent },
  now: number
): Step => {
  const { connection, event, id } = from
  const refuse = (message: string) => reply(id, frame("OK", event.id, false, message))
  const failed = withConnection(state, id, { ...connection, auth: { _tag: "Failed" } })
  if (connection.auth._tag === "Failed") return [state, refuse("auth-required: authentication already failed")]
  if (connection.auth._tag === "Passed") return [state, refuse("auth-required: already authenticated")]
  const attempts = connection.urls.map((relayUrl) =>
    Nip42.verify(rules.schnorr, event, { relayUrl, challenge: connection.challenge, now })
  )
  const verified = attempts.find(Result.isSuccess)?.success
  if (verified === undefined) return [failed, refuse(Nip42.VERIFICATION_FAILED)]
  const { attestation, pubkey } = verified
  const owner = attestation?.owner
  if (!RelayState.admits(state, rules, pubkey, owner)) return [failed, refuse("restricted: not a relay member")]
  const passed = withConnection(state, id, { ...connection, auth: { _tag: "Passed", pubkey, owner } })
  const owned = owner === undefined ? passed : RelayState.withOwner(passed, pubkey, owner)
  return [owned, reply(id, frame("OK", event.id, true, "")), refuse(NOT_SAVED)]
}

const publish = (
  state: RelayState.RelayState,
  rules: RelayState.RelayRules,
  from: { readonly id: number; readonly pubkey: string; readonly event: NostrEvent },
  now: number
): Step => {
  const { event, id, pubkey } = from
  const { outgoing, answer, state: next } = Publish.publish(state, rules, { event, by: pubkey, via: "ws" }, now)
  // The publisher's own subscriptions get the event before its OK.
  return [
    next,
    [...outgoing, ...reply(id, frame("OK", event.id, answer.accepted, answer.message))],
    reply(id, frame("OK", event.id, false, NOT_SAVED))
  ]
}

const subscribe = (
  state: RelayState.RelayState,
  from: { readonly id: number; readonly connection: Connections.Connection; readonly pubkey: string },
  { filters, id: subscriptionId }: Request
): Step => {
  const { connection, id, pubkey } = from
  const refusal = refusalOf(state, pubkey, filters)
  if (refusal !== undefined) return [state, reply(id, frame("CLOSED", subscriptionId, refusal))]
  const eose = frame("EOSE", subscriptionId)
  const history = () => Query.history(state, { filters, pubkey }).map((event) => frame("EVENT", subscriptionId, event))
  // A search is answered once, and nothing is registered.
  if (filters.some((filter) => filter.search !== undefined)) return [state, reply(id, ...history(), eose)]
  const { subscriptions } = connection
  if (subscriptions.size >= Subscriptions.MAX_SUBSCRIPTIONS && !subscriptions.has(subscriptionId))
    return [state, reply(id, frame("CLOSED", subscriptionId, "error: too many subscriptions"))]
  const connections = Connections.subscribe(state.connections, id, subscriptionId, Subscriptions.make(filters))
  return [{ ...state, connections }, reply(id, ...history(), eose)]
}

const unsubscribe = (state: RelayState.RelayState, id: number, subscriptionId: string): Step => [
  { ...state, connections: Connections.unsubscribe(state.connections, id, [subscriptionId]) },
  reply(id, frame("CLOSED", subscriptionId, ""))
]

const countOrRefuse = (state: RelayState.RelayState, pubkey: string, { filters, id }: Request): string => {
  const refusal = refusalOf(state, pubkey, filters)
  return refusal === undefined
    ? frame("COUNT", id, { count: Query.count(state, { filters, pubkey }) })
    : frame("CLOSED", id, refusal)
}

const refusalOf = (state: RelayState.RelayState, pubkey: string, filters: Request["filters"]): string | undefined => {
  const searches = filters.filter((filter) => filter.search !== undefined).length
  if (searches > 0 && searches < filters.length) return "error: mixed search and non-search filters not supported"
  const channels = filters.flatMap((filter) => filter["#h"] ?? [])
  if (!channels.every((channelId) => RelayState.mayAccess(state, channelId, pubkey)))
    return "restricted: not a channel member"
  if (Subscriptions.make(filters).channelId !== undefined) return undefined
  const gate = ReadRules.closedGate(filters, pubkey)
  return gate === undefined ? undefined : ReadRules.WS_REFUSAL[gate]
}
