/**
 * Who gets a new event, and whose subscription ends when access to a channel ends. Membership is looked up at every
 * delivery, never remembered.
 */
import { HashMap } from "effect"
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
  let json: string | undefined
  for (const [to, { auth, subscriptions }] of state.connections) {
    if (auth._tag !== "Passed" || !RelayState.maySee(state, stored, auth.pubkey)) continue
    for (const [id, subscription] of subscriptions) {
      if (!Subscriptions.wants(subscription, stored)) continue
      json ??= JSON.stringify(stored.event)
      outgoing.push({ to, frames: [`["EVENT",${JSON.stringify(id)},${json}]`] })
    }
  }
  return outgoing
}

/** Ends the subscriptions to a channel of everybody who cannot read it any more. */
export const revoke = (
  state: RelayState.RelayState,
  channelId: string
): readonly [RelayState.RelayState, ReadonlyArray<Outgoing>] => {
  const outgoing: Array<Outgoing> = []
  let connections = state.connections
  for (const [to, connection] of state.connections) {
    const { auth, subscriptions } = connection
    if (auth._tag !== "Passed" || RelayState.mayAccess(state, channelId, auth.pubkey)) continue
    const lost = [...subscriptions].filter(([, subscription]) => subscription.channelId === channelId)
    if (lost.length === 0) continue
    const kept = new Map([...subscriptions].filter(([, subscription]) => subscription.channelId !== channelId))
    connections = HashMap.set(connections, to, { ...connection, subscriptions: kept })
    for (const [id] of lost) outgoing.push({ to, frames: [frame("CLOSED", id, "restricted: channel access revoked")] })
  }
  return [{ ...state, connections }, outgoing]
}
