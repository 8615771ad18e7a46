/**
 * The trial's channel as the harness saw it: messages in order of first sight, with the names of their authors.
 */
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import { type NostrEvent, tagValues } from "@buzz-orchestra/relay/NostrEvent"
import type { TrialHandle } from "@buzz-orchestra/relay/TrialHandle"
import { Clock, Effect, Ref } from "effect"
import type { Supervision } from "../AgentSupervisor.ts"
import type { TrialRecord } from "../TrialRecord.ts"

/** What was seen so far. */
export interface ChannelSeen {
  /** Messages, their edits and deletions, in order of first sight, each once. */
  readonly events: ReadonlyArray<NostrEvent>
  /** When the newest message was first seen, milliseconds since the epoch. */
  readonly lastMillis: number
}

export interface ChannelView {
  readonly seen: Effect.Effect<ChannelSeen>
  /** Takes an event that was seen, perhaps not for the first time. */
  see(event: NostrEvent): Effect.Effect<void>
}

/** Who takes part, by public key. */
export type Names = ReadonlyMap<string, { readonly name: string; readonly role: string }>

/** The user and every agent of the trial. */
export const namesOf = ({ credentials, user }: TrialHandle): Names =>
  new Map([
    [user.identity.pubkey, { name: user.name, role: "user" }],
    ...credentials.map(({ agentId, identity, kind }) => [identity.pubkey, { name: agentId, role: kind }] as const)
  ])

/** Names of others, by public key. */
export type People = ReadonlyMap<string, string>

/** The people and bots of the task. Whoever is called as somebody of the trial would be taken for that one, and stays a stranger. */
export const peopleOf = (handle: TrialHandle): People => {
  const taken = new Set(Array.from(namesOf(handle).values(), ({ name }) => name))
  return new Map(
    (handle.directory ?? [])
      .filter(({ entry }) => !taken.has(entry.name))
      .map(({ entry, identity }) => [identity.pubkey, entry.name])
  )
}

/** How somebody is shown who is no identity of the trial. */
export const other = (pubkey: string, people: People): string => people.get(pubkey) ?? `stranger ${pubkey.slice(0, 8)}`

/** Nothing was seen yet. Each first sight is told to the record, and to the supervision for its mentions. */
export const make = Effect.fnUntraced(function* (options: {
  readonly handle: TrialHandle
  readonly record: TrialRecord
  readonly supervision: Pick<Supervision, "noticed">
}): Effect.fn.Return<ChannelView> {
  const { handle, record, supervision } = options
  const [names, people] = [namesOf(handle), peopleOf(handle)]
  const agents = handle.credentials.map(({ agentId, identity }) => ({ agentId, pubkey: identity.pubkey }))
  const ids = new Set<string>()
  const ref = yield* Ref.make<ChannelSeen>({ events: [], lastMillis: yield* Clock.currentTimeMillis })

  const see = Effect.fnUntraced(function* (event: NostrEvent) {
    // Agents take back their own reactions with the same kind of event as messages.
    const isForeign = event.kind === EventKind.Deletion && !tagValues(event, "e").some((id) => ids.has(id))
    if (ids.has(event.id) || isForeign) return
    ids.add(event.id)
    const isMessage = event.kind === EventKind.Message || event.kind === EventKind.MessageV2
    const now = yield* Clock.currentTimeMillis
    yield* Ref.update(ref, ({ events, lastMillis }) => ({
      events: [...events, event],
      lastMillis: isMessage ? now : lastMillis
    }))
    if (!isMessage) return
    yield* supervision.noticed(event, agents)
    const author = names.get(event.pubkey)?.name ?? other(event.pubkey, people)
    yield* record.publish({ _tag: "MessageSeen", author, event })
  })

  return { seen: Ref.get(ref), see }
})
