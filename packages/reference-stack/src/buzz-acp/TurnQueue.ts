/**
 * Events that wait for a turn, channel by channel: one turn at a time each, everything that came meanwhile in the next
 * one, and failed batches again after a pause. Pure; time and jitter are parameters.
 */
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"

/** Events given to one turn. */
const MAX_BATCH = 50
/** Events waiting in one channel; further ones are dropped. */
const MAX_PENDING = 500
/** Attempts after the first one. */
export const MAX_RETRIES = 10
const BASE_DELAY_MILLIS = 5000
const MAX_DELAY_MILLIS = 300_000
/** The pause varies by this part in both directions. */
const JITTER = 0.2

interface ChannelQueue {
  /** Oldest first. */
  readonly pending: ReadonlyArray<NostrEvent>
  /** The batch of the running turn. */
  readonly inFlight: ReadonlyArray<NostrEvent> | undefined
  /** Failed turns in a row. */
  readonly failures: number
  /** Milliseconds; the next turn does not start before. */
  readonly notBefore: number
}

/** By channel UUID, in the order in which channels last got something to do. */
export type TurnQueue = ReadonlyMap<string, ChannelQueue>

/** Nothing waits. */
export const empty: TurnQueue = new Map()

/** What became of an event. */
export type Offered = "queued" | "busy" | "full"

/** How a turn ended, as far as its batch is concerned. */
export type BatchEnd =
  /** The agent has it. */
  | "delivered"
  /** Nobody wants it any more. */
  | "discarded"
  /** It comes again at once, together with what waits. */
  | "merged"
  /** It comes again after a pause. */
  | "failed"

/** What a batch's end led to. */
export type Settled =
  | { readonly _tag: "Done" }
  | { readonly _tag: "Requeued"; readonly retry: number; readonly delayMillis: number; readonly events: number }
  | { readonly _tag: "DeadLettered"; readonly events: number }

/** Adds an event. With `drop`, a busy channel takes none. */
export const offer = (
  queue: TurnQueue,
  channel: string,
  event: NostrEvent,
  dedup: "queue" | "drop"
): readonly [TurnQueue, Offered] => {
  const before = queue.get(channel) ?? IDLE
  if (dedup === "drop" && before.inFlight !== undefined) return [queue, "busy"]
  if (before.pending.length >= MAX_PENDING) return [queue, "full"]
  return [set(queue, channel, { ...before, pending: [...before.pending, event] }), "queued"]
}

/** Takes the next batch that may start now: of the channel that has waited longest. */
export const take = (
  queue: TurnQueue,
  now: number
): { readonly queue: TurnQueue; readonly channel: string; readonly batch: ReadonlyArray<NostrEvent> } | undefined => {
  for (const [channel, state] of queue) {
    if (!isWaiting(state) || state.notBefore > now) continue
    const batch = state.pending.slice(0, MAX_BATCH)
    const after = { ...state, pending: state.pending.slice(MAX_BATCH), inFlight: batch }
    return { queue: set(queue, channel, after), channel, batch }
  }
  return undefined
}

/** Ends the running turn of a channel. `jitter` lies between 0 and 1. With `drop`, a failed batch is not tried again. */
export const settle = (
  queue: TurnQueue,
  channel: string,
  end: BatchEnd,
  options: { readonly now: number; readonly jitter: number; readonly dedup: "queue" | "drop" }
): readonly [TurnQueue, Settled] => {
  const state = queue.get(channel)
  if (state?.inFlight === undefined) return [queue, DONE]
  const over = { ...state, inFlight: undefined }
  if (end === "merged") return [set(queue, channel, { ...over, pending: [...state.inFlight, ...state.pending] }), DONE]
  if (end !== "failed" || options.dedup === "drop")
    return [set(queue, channel, { ...over, failures: 0, notBefore: 0 }), DONE]
  const events = state.inFlight.length
  if (state.failures >= MAX_RETRIES)
    return [set(queue, channel, { ...over, failures: 0, notBefore: 0 }), { _tag: "DeadLettered", events }]
  const retry = state.failures + 1
  const delayMillis = delay(retry, options.jitter)
  const again = {
    pending: [...state.inFlight, ...state.pending],
    inFlight: undefined,
    failures: retry,
    notBefore: options.now + delayMillis
  }
  return [set(queue, channel, again), { _tag: "Requeued", retry, delayMillis, events }]
}

/** Forgets what waits in a channel. A running turn is not touched: its end is still to be settled. */
export const remove = (queue: TurnQueue, channel: string): TurnQueue => {
  const state = queue.get(channel)
  if (state?.inFlight !== undefined) return set(queue, channel, { ...state, pending: [] })
  const after = new Map(queue)
  after.delete(channel)
  return after
}

/** Milliseconds until something that waits may start; `undefined` when only new events can start a turn. */
export const nextStart = (queue: TurnQueue, now: number): number | undefined => {
  const times = [...queue.values()].filter(isWaiting).map((state) => Math.max(0, state.notBefore - now))
  return times.length === 0 ? undefined : Math.min(...times)
}

/** Channels whose turn runs. */
export const running = (queue: TurnQueue): ReadonlyArray<string> =>
  [...queue].flatMap(([channel, state]) => (state.inFlight === undefined ? [] : [channel]))

const IDLE: ChannelQueue = { pending: [], inFlight: undefined, failures: 0, notBefore: 0 }
const DONE: Settled = { _tag: "Done" }

const isWaiting = (state: ChannelQueue): boolean => state.inFlight === undefined && state.pending.length > 0

const delay = (retry: number, jitter: number): number => {
  const base = Math.min(MAX_DELAY_MILLIS, BASE_DELAY_MILLIS * 2 ** (retry - 1))
  return Math.round(base * (1 + JITTER * (2 * jitter - 1)))
}

/** A channel that changed goes to the end, so that a busy one does not starve the others. */
const set = (queue: TurnQueue, channel: string, state: ChannelQueue): TurnQueue => {
  const after = new Map(queue)
  after.delete(channel)
  return after.set(channel, state)
}
