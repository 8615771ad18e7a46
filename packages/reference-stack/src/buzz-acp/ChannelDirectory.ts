/**
 * What the relay knows about channels and people, asked over HTTP: memberships at the start, names and context for
 * prompts. After the start every answer is optional: a relay that does not answer costs context, never a turn.
 */
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import type { Filter } from "@buzz-orchestra/relay/Filter"
import { type NostrEvent, tagValues } from "@buzz-orchestra/relay/NostrEvent"
import * as OwnerAttestation from "@buzz-orchestra/relay/OwnerAttestation"
import { Schnorr } from "@buzz-orchestra/relay/Schnorr"
import { Effect, Schedule } from "effect"
import { profileName } from "../buzz/Mentions.ts"
import { type BridgeError, RelayBridge } from "../RelayBridge.ts"
import * as Thread from "../Thread.ts"
import { type ChannelInfo, participants } from "./PromptText.ts"

export interface ChannelDirectory {
  /** The channels that the identity is a member of. */
  readonly memberships: Effect.Effect<ReadonlyArray<ChannelInfo>, BridgeError>
  /** One channel; `unknown` when the relay does not say. */
  channel(id: string): Effect.Effect<ChannelInfo>
  /** Names of everybody in these events, as far as they are known. */
  names(events: ReadonlyArray<NostrEvent>): Effect.Effect<ReadonlyMap<string, string>>
  /** Messages before an event: of its thread, or of a direct conversation. Oldest first. */
  transcript(
    channel: ChannelInfo,
    batch: ReadonlyArray<NostrEvent>,
    limit: number
  ): Effect.Effect<ReadonlyArray<NostrEvent>>
  /** Who attested this author's key, by its profile. `undefined` when nobody did or nobody answered in time. */
  ownerOf(author: string): Effect.Effect<string | undefined>
}

/** The relay is asked again after these pauses when it is busy or silent. */
const RETRY = Schedule.exponential("500 millis").pipe(Schedule.upTo({ times: 3 }))

/** The directory of one identity. */
export const make = Effect.fnUntraced(function* (self: string) {
  const bridge = yield* RelayBridge
  const schnorr = yield* Schnorr
  const knownChannels = new Map<string, ChannelInfo>()
  const knownNames = new Map<string, string>()

  const query = (...filters: ReadonlyArray<Filter>) =>
    Effect.retry(bridge.query(filters), { schedule: RETRY, while: isTransient })

  const optional = (...filters: ReadonlyArray<Filter>) =>
    Effect.orElseSucceed(query(...filters), (): ReadonlyArray<NostrEvent> => [])

  const remember = (id: string, metadata: NostrEvent | undefined): ChannelInfo => {
    const info = channelInfo(id, metadata)
    knownChannels.set(id, info)
    return info
  }

  const directory: ChannelDirectory = {
    memberships: Effect.gen(function* () {
      const lists = yield* query({ kinds: [EventKind.ChannelMembers], "#p": [self] })
      const ids = [...new Set(lists.flatMap((event) => tagValues(event, "d").slice(0, 1)))]
      if (ids.length === 0) return []
      const metadata = yield* query({ kinds: [EventKind.ChannelMetadata], "#d": ids })
      return ids.map((id) =>
        remember(
          id,
          metadata.find((event) => tagValues(event, "d")[0] === id)
        )
      )
    }),
    channel: (id) =>
      Effect.suspend(() => {
        const known = knownChannels.get(id)
        return known === undefined
          ? Effect.map(optional({ kinds: [EventKind.ChannelMetadata], "#d": [id] }), ([event]) => remember(id, event))
          : Effect.succeed(known)
      }),
    names: Effect.fnUntraced(function* (events: ReadonlyArray<NostrEvent>) {
      const missing = participants(events).filter((pubkey) => !knownNames.has(pubkey))
      if (missing.length > 0)
        for (const profile of yield* optional({ kinds: [EventKind.Profile], authors: missing })) {
          const name = profileName(profile.content)
          if (name !== undefined) knownNames.set(profile.pubkey, name)
        }
      return knownNames
    }),
    transcript: Effect.fnUntraced(function* (channel: ChannelInfo, batch: ReadonlyArray<NostrEvent>, limit: number) {
      const last = batch.at(-1)
      const root = last === undefined ? undefined : Thread.rootOf(last)
      const messages = { kinds: [EventKind.Message, EventKind.MessageV2], "#h": [channel.id], limit }
      const found =
        limit === 0
          ? []
          : root !== undefined
            ? yield* optional({ ids: [root] }, { ...messages, "#e": [root] })
            : channel.type === "dm"
              ? yield* optional(messages)
              : []
      const shown = new Set(batch.map(({ id }) => id))
      return found
        .filter(({ id }) => !shown.has(id))
        .toSorted((a, b) => a.created_at - b.created_at)
        .slice(-limit)
    }),
    ownerOf: (author) =>
      bridge.query([{ authors: [author], kinds: [EventKind.Profile], limit: 1 }]).pipe(
        Effect.map(([profile]) =>
          profile === undefined ? undefined : OwnerAttestation.ofEvent(schnorr, profile)?.owner
        ),
        Effect.timeout("2 seconds"),
        Effect.orElseSucceed(() => undefined)
      )
  }
  return directory
})

const isTransient = (error: BridgeError): boolean =>
  error._tag === "BridgeUnreachable" || (error._tag === "BridgeRefused" && [429, 502, 503, 504].includes(error.status))

const channelInfo = (id: string, metadata: NostrEvent | undefined): ChannelInfo => {
  const has = (name: string) => metadata?.tags.some((tag) => tag[0] === name) === true
  return {
    id,
    name: (metadata === undefined ? undefined : tagValues(metadata, "name")[0]) ?? "unknown",
    type: has("hidden") ? "dm" : has("private") ? "private" : "stream"
  }
}
