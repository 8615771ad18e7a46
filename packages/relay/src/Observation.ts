/**
 * In which order the events of a channel are seen, and which of them says that the work is done. Pure: `RelayObserverLive`
 * feeds it what the subscription and the readings of the channel bring.
 *
 * After every (re)connection the whole channel is read, and what arrives live meanwhile waits until the reading is merged:
 * otherwise a message could be seen before the one it answers. It is also read from time to time, for what a subscription
 * may lose without a word; nothing waits for that.
 */
import { HashSet } from "effect"
import * as ChannelHistory from "./ChannelHistory.ts"
import * as EventKind from "./EventKind.ts"
import type { NostrEvent } from "./NostrEvent.ts"
import { DONE_PREFIX } from "./RelayObserver.ts"

/** An event and when it was seen. Events of one reading share a batch: which of them was first, nobody knows. */
export interface Sighting {
  readonly event: NostrEvent
  readonly batch: number
}

/** The batch of the history that existed when the observation began. */
export const INITIAL_BATCH = 0

/** What was seen so far, and whether a reading is awaited. A value: the caller keeps the latest. */
export interface Observation {
  readonly channelId: string
  readonly seen: HashSet.HashSet<string>
  readonly nextBatch: number
  /** Counts the (re)connections; a reading that was started for an older one says nothing about the gap since. */
  readonly generation: number
  /** Live events that wait for the reading, or `undefined` when there is none to wait for. */
  readonly waiting: ReadonlyArray<NostrEvent> | undefined
}

/** What the subscription and the reading bring. */
export type Input =
  | { readonly _tag: "Requested" }
  | { readonly _tag: "EndOfStored" }
  | { readonly _tag: "Event"; readonly event: NostrEvent }
  /** It is time to read the channel although nothing happened. */
  | { readonly _tag: "Due" }
  /** The whole channel, read in this generation and after its end of stored events. */
  | { readonly _tag: "Read"; readonly generation: number; readonly events: ReadonlyArray<NostrEvent> }

/** What follows from one input. */
export interface Outcome {
  /** What is seen for the first time, in order. */
  readonly sightings: ReadonlyArray<Sighting>
  /** Whether the channel is to be read now: in place of a reading that runs (`anew`), or only when none does. */
  readonly read: "anew" | "once" | undefined
}

/** Before the first connection: nothing is seen, a reading is awaited. */
export const begin = (channelId: string): Observation => ({
  channelId,
  seen: HashSet.empty(),
  nextBatch: INITIAL_BATCH,
  generation: 0,
  waiting: []
})

/** The state after an input, and what follows from it. */
export const step = (observation: Observation, input: Input): readonly [Observation, Outcome] => {
  switch (input._tag) {
    case "Requested":
      return [{ ...observation, generation: observation.generation + 1, waiting: observation.waiting ?? [] }, NOTHING]
    case "EndOfStored":
      return [observation, { sightings: [], read: "anew" }]
    case "Due":
      // Also when the end of stored events is awaited: it may be what was lost.
      return [observation, { sightings: [], read: "once" }]
    case "Event":
      return observation.waiting === undefined
        ? see(observation, [[input.event]])
        : [{ ...observation, waiting: [...observation.waiting, input.event] }, NOTHING]
    case "Read": {
      // A reading of an older connection says nothing about the gap since.
      if (input.generation !== observation.generation) return [observation, NOTHING]
      const waiting = (observation.waiting ?? []).map((event) => [event])
      return see({ ...observation, waiting: undefined }, [ChannelHistory.inReadingOrder(input.events), ...waiting])
    }
  }
}

const NOTHING: Outcome = { sightings: [], read: undefined }

const see = (
  observation: Observation,
  batches: ReadonlyArray<ReadonlyArray<NostrEvent>>
): readonly [Observation, Outcome] => {
  const sightings: Array<Sighting> = []
  let { seen, nextBatch } = observation
  for (const events of batches) {
    for (const event of events) {
      if (HashSet.has(seen, event.id) || !ChannelHistory.belongsTo(event, observation.channelId)) continue
      seen = HashSet.add(seen, event.id)
      sightings.push({ event, batch: nextBatch })
    }
    nextBatch += 1
  }
  return [
    { ...observation, seen, nextBatch },
    { sightings, read: undefined }
  ]
}

/** Waits for the orchestrator's `DONE:`. */
export interface DoneWatch {
  readonly orchestrator: string
  /** Id of the event that must not have been seen later than the `DONE:`. */
  readonly after: string
  readonly afterWasSeen: boolean
  /** `DONE:` messages seen before `after`, of the newest batch only. */
  readonly early: ReadonlyArray<Sighting>
  readonly done: NostrEvent | undefined
}

/** Before the first sighting. */
export const watchDone = (options: { readonly orchestrator: string; readonly after: string }): DoneWatch => ({
  ...options,
  afterWasSeen: false,
  early: [],
  done: undefined
})

/**
 * Takes the next sighting. A `DONE:` of the same later batch as `after` counts, wherever it stands in it: both were missed
 * together, and the author's clock does not tell which came first. In the initial history the position decides: an old
 * `DONE:` beside an old task must not end new work.
 */
export const watch = (state: DoneWatch, sighting: Sighting): DoneWatch => {
  if (state.done !== undefined) return state
  const { event, batch } = sighting
  if (event.id === state.after) {
    const together = batch === INITIAL_BATCH ? undefined : state.early.find((early) => early.batch === batch)
    return { ...state, afterWasSeen: true, done: together?.event }
  }
  if (!isDone(event, state.orchestrator)) return state
  if (state.afterWasSeen) return { ...state, done: event }
  return { ...state, early: [...state.early.filter((early) => early.batch === batch), sighting] }
}

/** Whether this is a message by the orchestrator that starts with `DONE:`. Quotes, edits and others' words do not count. */
export const isDone = (event: NostrEvent, orchestrator: string): boolean =>
  event.pubkey === orchestrator &&
  (event.kind === EventKind.Message || event.kind === EventKind.MessageV2) &&
  event.content.startsWith(DONE_PREFIX)
