/**
 * Which mentions have not reached the agents they name. A team is quiescent only when there are none. Pure.
 *
 * An agent that logs receipts settles a mention by naming its event. One that logs none is taken to have read what was there
 * when its turn ended.
 */
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import { type NostrEvent, tagValues } from "@buzz-orchestra/relay/NostrEvent"
import type { AgentSignal } from "./AgentSignal.ts"

/** One event that mentions one agent. */
export interface Mention {
  readonly agentId: string
  readonly eventId: string
}

/** What is known about mentions. */
export interface Delivery {
  /** Mentions on their way; `taken` means that a turn started while it was there. */
  readonly pending: ReadonlyArray<Mention & { readonly taken: boolean }>
  /** Event ids that agents confirmed, by agent. A log may be ahead of the channel. */
  readonly receipts: ReadonlyMap<string, ReadonlySet<string>>
}

/** Nothing was said yet. */
export const initial: Delivery = { pending: [], receipts: new Map() }

/** Kinds that wake an agent that listens to mentions. */
export const WAKING_KINDS: ReadonlySet<number> = new Set([
  EventKind.Message,
  EventKind.Reminder,
  EventKind.ApprovalRequested
])

/** A message was seen in the channel. It is on its way to each agent that it names, its author excepted. */
export const seen = (
  delivery: Delivery,
  event: NostrEvent,
  agents: ReadonlyArray<{ readonly agentId: string; readonly pubkey: string }>
): Delivery => {
  if (!WAKING_KINDS.has(event.kind)) return delivery
  const named = new Set(tagValues(event, "p"))
  const mentions = agents.flatMap(({ agentId, pubkey }) =>
    named.has(pubkey) && pubkey !== event.pubkey && !isSettled(delivery, { agentId, eventId: event.id })
      ? [{ agentId, eventId: event.id, taken: false }]
      : []
  )
  return mentions.length === 0 ? delivery : { ...delivery, pending: [...delivery.pending, ...mentions] }
}

/** An agent's log said something. */
export const heard = (delivery: Delivery, agentId: string, signal: AgentSignal): Delivery => {
  switch (signal._tag) {
    case "Delivered":
      return confirm(delivery, agentId, signal.eventIds)
    case "SteerAcked":
      return signal.delivered ? confirm(delivery, agentId, [signal.eventId]) : delivery
    case "TurnStarted":
      return {
        ...delivery,
        pending: delivery.pending.map((mention) =>
          mention.agentId === agentId ? { ...mention, taken: true } : mention
        )
      }
    case "TurnEnded":
      return signal.stop === "cancelled"
        ? delivery
        : without(delivery, agentId, (mention) => mention.taken || !delivery.receipts.has(agentId))
    case "DeadLettered":
      return without(delivery, agentId, () => true)
    default:
      return delivery
  }
}

/** The mentions on their way, oldest first. */
export const undelivered = (delivery: Delivery): ReadonlyArray<Mention> =>
  delivery.pending.map(({ agentId, eventId }) => ({ agentId, eventId }))

const isSettled = (delivery: Delivery, mention: Mention): boolean =>
  delivery.receipts.get(mention.agentId)?.has(mention.eventId) === true ||
  delivery.pending.some(({ agentId, eventId }) => agentId === mention.agentId && eventId === mention.eventId)

const confirm = (delivery: Delivery, agentId: string, eventIds: ReadonlyArray<string>): Delivery => {
  const receipts = new Set([...(delivery.receipts.get(agentId) ?? []), ...eventIds])
  return {
    receipts: new Map([...delivery.receipts, [agentId, receipts]]),
    pending: delivery.pending.filter((mention) => mention.agentId !== agentId || !receipts.has(mention.eventId))
  }
}

const without = (
  delivery: Delivery,
  agentId: string,
  settled: (mention: Delivery["pending"][number]) => boolean
): Delivery => ({
  ...delivery,
  pending: delivery.pending.filter((mention) => mention.agentId !== agentId || !settled(mention))
})
