/**
 * Checks of what an event says: attached media, profiles, reactions.
 */
import { Option, Result, Schema } from "effect"
import * as EventKind from "../EventKind.ts"
import { type NostrEvent, tagValues } from "../NostrEvent.ts"
import * as EventStore from "./EventStore.ts"
import { type Refusal, refuse } from "./Refusal.ts"

/** Characters that a reaction may have. */
export const MAX_REACTION_CHARACTERS = 64

/** A described attachment must be a blob of this relay, and this relay keeps none. */
export const checkMedia = (event: NostrEvent): Result.Result<void, Refusal> =>
  event.tags.some((tag) => tag[0] === "imeta")
    ? refuse("invalid: imeta url does not name a blob of this relay")
    : Result.void

/** Profiles hold JSON; a key reacts to an event with the same emoji once. */
export const checkContent = (store: EventStore.EventStore, event: NostrEvent): Result.Result<void, Refusal> => {
  if (event.kind === EventKind.Profile && Option.isNone(parseJson(event.content)))
    return refuse("invalid: kind:0 content must be valid JSON")
  return event.kind === EventKind.Reaction ? checkReaction(store, event) : Result.void
}

const checkReaction = (store: EventStore.EventStore, event: NostrEvent): Result.Result<void, Refusal> => {
  if ([...event.content].length > MAX_REACTION_CHARACTERS)
    return refuse(`invalid: reaction exceeds ${MAX_REACTION_CHARACTERS} characters`)
  const target = targetOf(event)
  const own = EventStore.query(
    store,
    { kinds: [EventKind.Reaction], authors: [event.pubkey], "#e": [target] },
    (row) => targetOf(row.event) === target && emojiOf(row.event) === emojiOf(event)
  )
  return own.some((row) => row.event.id !== event.id) ? refuse("duplicate: reaction already exists", 200) : Result.void
}

const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

const targetOf = (event: NostrEvent): string => tagValues(event, "e").at(-1) ?? ""

/** An empty reaction means `+`. */
const emojiOf = (event: NostrEvent): string => (event.content === "" ? "+" : event.content)
