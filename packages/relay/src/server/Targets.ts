/**
 * Events about other events: deletions, edits and reactions. Finds the event they mean and decides whether they may.
 */
import { Result } from "effect"
import * as EventKind from "../EventKind.ts"
import { type NostrEvent, tagValues } from "../NostrEvent.ts"
import * as Channel from "./Channel.ts"
import * as EventStore from "./EventStore.ts"
import { type Refusal, refuse } from "./Refusal.ts"
import * as RelayState from "./RelayState.ts"

/** The channel of the event that a reaction or deletion means. The failure is the relay's text about a reaction. */
export const channelOf = (
  store: EventStore.EventStore,
  event: NostrEvent
): Result.Result<string | undefined, string> => {
  if (event.kind === EventKind.Deletion) return Result.succeed(deleted(store, event)?.channelId)
  // With several `e` tags the last one is the target.
  const id = tagValues(event, "e").at(-1)
  if (id === undefined) return Result.fail("invalid: reaction must reference a target event via e tag")
  const target = EventStore.get(store, id)
  return target === undefined
    ? Result.fail("invalid: reaction target event not found")
    : Result.succeed(target.channelId)
}

/** The event that a deletion removes; nothing for other kinds. Edits are checked as well. */
export const check = (
  state: RelayState.RelayState,
  event: NostrEvent,
  channelId: string | undefined,
  relayPubkey: string
): Result.Result<EventStore.StoredEvent | undefined, Refusal> => {
  switch (event.kind) {
    case EventKind.Deletion:
      return checkDeletion(state.store, event)
    case EventKind.DeleteMessage:
      return checkModeration(state, event, channelId, relayPubkey)
    case EventKind.MessageEdit:
      return Result.map(checkEdit(state.store, event, channelId), () => undefined)
    default:
      return Result.succeed(undefined)
  }
}

type Found = Result.Result<EventStore.StoredEvent, Refusal>

const checkDeletion = (store: EventStore.EventStore, event: NostrEvent): Found =>
  Result.gen(function* () {
    yield* hasOneTarget(event)
    const target = deleted(store, event)
    if (target === undefined) return yield* refuse("invalid: target event not found")
    if (target.event.pubkey !== event.pubkey) return yield* refuse("invalid: must be event author")
    return target
  })

const checkModeration = (
  state: RelayState.RelayState,
  event: NostrEvent,
  channelId: string | undefined,
  relayPubkey: string
): Found =>
  Result.gen(function* () {
    yield* hasOneTarget(event)
    const target = deleted(state.store, event)
    // What the relay says about a channel cannot be deleted; it follows from the channel itself.
    if (target === undefined || channelId === undefined || target.event.pubkey === relayPubkey)
      return yield* refuse("invalid: target event not found")
    if (target.channelId !== channelId) return yield* refuse("invalid: target event belongs to a different channel")
    const role = RelayState.channel(state, channelId)?.members.get(event.pubkey)
    if (target.event.pubkey !== event.pubkey && !Channel.isElevated(role))
      return yield* refuse("invalid: must be event author or channel owner/admin")
    return target
  })

const checkEdit = (store: EventStore.EventStore, event: NostrEvent, channelId: string | undefined): Found => {
  const target = EventStore.get(store, tagValues(event, "e")[0] ?? "")
  if (target === undefined) return refuse("invalid: target event not found")
  if (target.channelId !== channelId) return refuse("invalid: target event belongs to a different channel")
  return target.event.pubkey === event.pubkey ? Result.succeed(target) : refuse("invalid: must be event author to edit")
}

const hasOneTarget = (event: NostrEvent): Result.Result<void, Refusal> => {
  const [e, a] = [tagValues(event, "e").length, tagValues(event, "a").length]
  return e + a === 1
    ? Result.void
    : refuse(`invalid: deletion events must reference exactly one target via e or a tag (got e=${e}, a=${a})`)
}

/** By id, or by address as `kind:pubkey:d`, which is also how addresses are written in `a` tags. */
const deleted = (store: EventStore.EventStore, event: NostrEvent): EventStore.StoredEvent | undefined => {
  const [id] = tagValues(event, "e")
  if (id !== undefined) return EventStore.get(store, id)
  const [address] = tagValues(event, "a")
  return address === undefined ? undefined : EventStore.atAddress(store, address)
}
