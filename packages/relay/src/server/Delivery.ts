/**
 * Who gets a new event, and whose subscription ends when access to a channel ends. Membership is looked up at every
 * delivery, never remembered.
 */
import * as Connections from "./Connections.ts"
import type { StoredEvent } from "./EventStore.ts"
import * as RelayState from "./RelayState.ts"
import * as Subscriptions from "./Subscriptions.ts"

/** Frames for one connection. */
export interface Outgoing {
  readonly to: number
  readonly frames: ReadonlyArray<string>
}

/** A frame of the relay, as text. */
export const frame = (...parts: ReadonlyArray<unknown>): string => JSON.stringify(parts)

/** The frames by which subscribers learn of one event, with the state after it. */
export const deliver = (state: RelayState.RelayState, stored: StoredEvent): ReadonlyArray<Outgoing> => {
  const outgoing: Array<Outgoing> = []
  const isReader = RelayState.readersOf(state, stored)
  const frames = new Map<string, ReadonlyArray<string>>()
  let json: string | undefined
  for (const [to, { auth, subscriptions }] of Connections.audienceOf(state.connections, stored.channelId)) {
    if (auth._tag !== "Passed" || !isReader(auth.pubkey)) continue
    for (const [id, subscription] of subscriptions) {
      if (!Subscriptions.wants(subscription, stored)) continue
      json ??= JSON.stringify(stored.event)
      // Programs of one kind name their subscriptions alike.
      const known = frames.get(id) ?? [`["EVENT",${JSON.stringify(id)},${json}]`]
      frames.set(id, known)
      outgoing.push({ to, frames: known })
    }
  }
  return outgoing
}

/** A new state, and what to send because of it. */
type Ends = readonly [RelayState.RelayState, ReadonlyArray<Outgoing>]

/** Ends the subscriptions to a channel of everybody who cannot read it any more. */
export const revoke = (state: RelayState.RelayState, channelId: string): Ends => {
  const outgoing: Array<Outgoing> = []
  let { connections } = state
  for (const [to, { auth, subscriptions }] of Connections.audienceOf(connections, channelId)) {
    if (auth._tag !== "Passed" || RelayState.mayAccess(state, channelId, auth.pubkey)) continue
    const lost = [...subscriptions].flatMap(([id, subscription]) => (subscription.channelId === channelId ? [id] : []))
    connections = Connections.unsubscribe(connections, to, lost)
    outgoing.push(...lost.map((id) => ({ to, frames: [frame("CLOSED", id, "restricted: channel access revoked")] })))
  }
  return [{ ...state, connections }, outgoing]
}

/** Ends the sessions of everybody whom the relay does not admit any more; the connections stay, as after a failed AUTH. */
export const exclude = (state: RelayState.RelayState, rules: RelayState.RelayRules): Ends => {
  const outgoing: Array<Outgoing> = []
  let { connections } = state
  for (const [to, connection] of state.connections.byId) {
    const { auth, subscriptions } = connection
    if (auth._tag !== "Passed" || RelayState.admits(state, rules, auth.pubkey, auth.owner)) continue
    const failed = Connections.set(connections, to, { ...connection, auth: { _tag: "Failed" } })
    const ids = [...subscriptions.keys()]
    connections = Connections.unsubscribe(failed, to, ids)
    outgoing.push(...ids.map((id) => ({ to, frames: [frame("CLOSED", id, "restricted: not a relay member")] })))
  }
  return [{ ...state, connections }, outgoing]
}
