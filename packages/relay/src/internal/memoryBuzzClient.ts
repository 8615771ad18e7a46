/** `BuzzClient` over the state of the relay double. */
import { Effect } from "effect"
import { BuzzClient, type OutgoingMessage } from "../BuzzClient.ts"
import { oldestFirst } from "../Filter.ts"
import * as FoundChannel from "../FoundChannel.ts"
import { checkSize } from "./buzzOperations.ts"
import type { MemoryRelay } from "./memoryRelay.ts"
import * as Templates from "./templates.ts"

type Client = BuzzClient["Service"]

/** The client of this relay. */
export const make = <Method extends string>(relay: MemoryRelay<Method | keyof Client>): Client =>
  BuzzClient.of({
    setProfile: (actor, profile) =>
      relay.called(
        "setProfile",
        actor,
        profile,
        Effect.sync(() => void relay.names.set(actor.identity.pubkey, profile.name))
      ),
    profiles: (actor, pubkeys) =>
      relay.called(
        "profiles",
        actor,
        pubkeys,
        Effect.sync(() =>
          pubkeys.flatMap((pubkey) => {
            const name = relay.names.get(pubkey)
            return name === undefined ? [] : [{ pubkey, name }]
          })
        )
      ),
    createChannel: (actor, channel) => relay.called("createChannel", actor, channel, create(relay, actor, channel)),
    addMember: (actor, member) =>
      relay.called(
        "addMember",
        actor,
        member,
        Effect.map(relay.asMember(actor, member.channelId), ({ members }) => {
          if (members.some(({ pubkey }) => pubkey === member.pubkey)) return
          members.push({ pubkey: member.pubkey, role: member.role })
        })
      ),
    members: (actor, channelId) =>
      relay.called(
        "members",
        actor,
        channelId,
        Effect.sync(() => [...(relay.channels.get(channelId)?.members ?? [])])
      ),
    findChannels: (actor, name) =>
      relay.called(
        "findChannels",
        actor,
        name,
        Effect.sync(() =>
          [...relay.described.values()]
            .filter((channel) => FoundChannel.isNamed(channel, name))
            .map((channel) => ({ ...channel, isArchived: relay.channels.get(channel.channelId)?.archived ?? false }))
            .toSorted(FoundChannel.inOrder)
        )
      ),
    archiveChannel: (actor, channelId) =>
      relay.called("archiveChannel", actor, channelId, archive(relay, actor, channelId)),
    send: (actor, message) => relay.called("send", actor, message, send(relay, actor, message)),
    readChannel: (actor, channelId, options) =>
      relay.called(
        "readChannel",
        actor,
        { channelId, ...options },
        Effect.map(relay.visible(actor, channelId, options?.kinds), (events) => events.toSorted(oldestFirst))
      )
  })

type Actor = Parameters<Client["send"]>[0]

const create = Effect.fnUntraced(function* (
  relay: MemoryRelay<string>,
  actor: Actor,
  { description, id, name }: Parameters<Client["createChannel"]>[1]
) {
  const { members } = yield* relay.channelAt(id)
  const owner = members.find(({ role }) => role === "owner")
  if (owner === undefined) members.push({ pubkey: actor.identity.pubkey, role: "owner" })
  else if (owner.pubkey !== actor.identity.pubkey) {
    return yield* relay.refuse(actor, "duplicate: channel already exists")
  }
  relay.described.set(id, {
    channelId: id,
    name,
    type: "stream",
    visibility: "private",
    isArchived: false,
    about: description ?? null,
    topic: null,
    purpose: null,
    ttlSeconds: null
  })
  return id
})

const archive = (relay: MemoryRelay<string>, actor: Actor, channelId: string) =>
  Effect.suspend(() => {
    const channel = relay.channels.get(channelId)
    if (channel === undefined) return relay.refuse(actor, "invalid: channel not found", 400)
    const owns = channel.members.some(({ pubkey, role }) => pubkey === actor.identity.pubkey && role === "owner")
    if (!owns) return relay.refuse(actor, "invalid: actor not authorized for archived changes", 400)
    channel.archived = true
    return Effect.void
  })

const send = Effect.fnUntraced(function* (relay: MemoryRelay<string>, actor: Actor, message: OutgoingMessage) {
  yield* checkSize(message)
  const channel = yield* relay.asMember(actor, message.channelId)
  const parent = (yield* channel.log.items).find(({ event }) => event.id === message.replyTo)?.event
  if (message.replyTo !== undefined && parent === undefined) {
    return yield* relay.refuse(actor, `parent event ${message.replyTo} not found`)
  }
  const mentions = message.mentions ?? []
  const event = yield* relay.sign(actor.identity, (now) => Templates.message({ ...message, mentions, parent }, now))
  yield* relay.store(message.channelId, event)
  return event
})
