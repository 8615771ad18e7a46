/**
 * The open connections, and for every channel those that listen to it, so that an event is looked at by its own audience
 * only, however many others are connected. A value: changes return a new one.
 */
import { HashMap, HashSet, Option } from "effect"
import type { Subscription } from "./Subscriptions.ts"

/** One WebSocket connection. */
export interface Connection {
  /** 64 hex, sent with the greeting; the client signs it. */
  readonly challenge: string
  /** The URLs under which the client may have dialled: those that its `Host` header leaves. */
  readonly urls: ReadonlyArray<string>
  /** A failed authentication is final for the connection. `owner` is who attested the key. */
  readonly auth:
    | { readonly _tag: "Waiting" }
    | { readonly _tag: "Failed" }
    | { readonly _tag: "Passed"; readonly pubkey: string; readonly owner: string | undefined }
  readonly subscriptions: ReadonlyMap<string, Subscription>
}

/** Connections by number, and the numbers of those that listen to a channel, or to what belongs to none. */
export interface Connections {
  readonly byId: HashMap.HashMap<number, Connection>
  readonly audiences: HashMap.HashMap<string, HashSet.HashSet<number>>
}

/** Nobody. */
export const empty: Connections = { byId: HashMap.empty(), audiences: HashMap.empty() }

/** The connection with this number, while it is open. */
export const get = (connections: Connections, id: number): Connection | undefined =>
  Option.getOrUndefined(HashMap.get(connections.byId, id))

/** With this connection, which listens to nothing yet, or listens as before. */
export const set = (connections: Connections, id: number, connection: Connection): Connections => ({
  ...connections,
  byId: HashMap.set(connections.byId, id, connection)
})

/** Without it. */
export const remove = (connections: Connections, id: number): Connections => {
  const silent = unsubscribe(connections, id, [...(get(connections, id)?.subscriptions.keys() ?? [])])
  return { ...silent, byId: HashMap.remove(silent.byId, id) }
}

/** With this subscription of an open connection, in the place of one of the same name. */
export const subscribe = (
  connections: Connections,
  id: number,
  name: string,
  subscription: Subscription
): Connections => {
  const connection = get(connections, id)
  if (connection === undefined) return connections
  const scope = scopeOf(subscription)
  const isKnown = connection.subscriptions.get(name)?.channelId === subscription.channelId
  const { audiences, byId } = isKnown ? connections : unsubscribe(connections, id, [name])
  const subscriptions = new Map(connection.subscriptions).set(name, subscription)
  return {
    byId: HashMap.set(byId, id, { ...connection, subscriptions }),
    audiences: HashMap.set(audiences, scope, HashSet.add(at(audiences, scope), id))
  }
}

/** Without these subscriptions of a connection. */
export const unsubscribe = (connections: Connections, id: number, names: ReadonlyArray<string>): Connections => {
  const connection = get(connections, id)
  const ended = names.flatMap((name) => connection?.subscriptions.get(name) ?? [])
  if (connection === undefined || ended.length === 0) return connections
  const subscriptions = new Map(connection.subscriptions)
  for (const name of names) subscriptions.delete(name)
  const kept = new Set(Array.from(subscriptions.values(), scopeOf))
  const left = new Set(ended.map(scopeOf))
  return {
    byId: HashMap.set(connections.byId, id, { ...connection, subscriptions }),
    audiences: [...left].reduce(
      (audiences, scope) => (kept.has(scope) ? audiences : without(audiences, scope, id)),
      connections.audiences
    )
  }
}

/** Whoever has a subscription to this channel; without one, to what belongs to no channel. */
export const audienceOf = (
  connections: Connections,
  channelId: string | undefined
): ReadonlyArray<readonly [number, Connection]> => {
  const audience = HashMap.get(connections.audiences, channelId ?? NO_CHANNEL)
  if (Option.isNone(audience)) return []
  return Array.from(audience.value, (id) => [id, get(connections, id)] as const).filter(isOpen)
}

/** No channel's id is empty. */
const NO_CHANNEL = ""

const isOpen = (entry: readonly [number, Connection | undefined]): entry is readonly [number, Connection] =>
  entry[1] !== undefined

/** An audience that nobody is left in goes, too: channels come and go. */
const without = (audiences: Connections["audiences"], scope: string, id: number): Connections["audiences"] => {
  const rest = HashSet.remove(at(audiences, scope), id)
  return HashSet.size(rest) === 0 ? HashMap.remove(audiences, scope) : HashMap.set(audiences, scope, rest)
}

const at = (audiences: Connections["audiences"], scope: string): HashSet.HashSet<number> =>
  Option.getOrElse(HashMap.get(audiences, scope), () => HashSet.empty<number>())

const scopeOf = ({ channelId }: Subscription): string => channelId ?? NO_CHANNEL
