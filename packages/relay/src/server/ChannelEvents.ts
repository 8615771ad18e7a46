/**
 * What the relay itself says about channels: the signed state (39000–39002), the notices to those who were added or
 * removed (44100, 44101) and the system messages (40099). Templates only; the relay signs them.
 */
import * as EventKind from "../EventKind.ts"
import type { EventTemplate, Tag } from "../NostrEvent.ts"
import * as Channel from "./Channel.ts"
import type { ChannelChange } from "./ChannelRules.ts"

/** A channel's state as three addressable events whose `d` is the channel's id. `created_at` is for all three. */
export const state = (channel: Channel.Channel, created_at: number): ReadonlyArray<EventTemplate> =>
  [
    { kind: EventKind.ChannelMetadata, tags: metadataTags(channel) },
    {
      kind: EventKind.ChannelAdmins,
      tags: members(channel).flatMap(([pubkey, role]): ReadonlyArray<Tag> =>
        Channel.isElevated(role) ? [["p", pubkey, role]] : []
      )
    },
    // The empty third element is the place of a relay hint.
    { kind: EventKind.ChannelMembers, tags: members(channel).map(([pubkey, role]): Tag => ["p", pubkey, "", role]) }
  ].map(({ kind, tags }) => ({ kind, created_at, content: "", tags: [["d", channel.id], ...tags] }))

/** One notice for each key that became a member or is none any more. Global: a removed key cannot read the channel. */
export const membershipNotices = (
  change: ChannelChange,
  actor: string,
  created_at: number
): ReadonlyArray<EventTemplate> =>
  [
    ...change.added.map((target) => ({ kind: EventKind.MemberAdded, type: "member_added", target })),
    ...change.removed.map((target) => ({ kind: EventKind.MemberRemoved, type: "member_removed", target }))
  ].map(({ kind, target, type }) => ({
    kind,
    created_at,
    tags: [
      ["p", target],
      ["h", change.channel.id]
    ],
    content: JSON.stringify({ actor, channel_id: change.channel.id, type })
  }))

/** System messages that tell the channel's readers what happened. */
export const systemMessages = (
  channelId: string,
  notices: ChannelChange["notices"],
  created_at: number
): ReadonlyArray<EventTemplate> =>
  notices.map((notice) => ({
    kind: EventKind.SystemMessage,
    created_at,
    tags: [["h", channelId]],
    content: JSON.stringify(notice)
  }))

const members = (channel: Channel.Channel) => [...channel.members]

const metadataTags = (channel: Channel.Channel): ReadonlyArray<Tag> => [
  ["name", channel.name],
  ...optional("about", channel.about),
  [channel.visibility === "open" ? "public" : "private"],
  ["closed"],
  ["t", channel.type],
  ...optional("topic", channel.topic),
  ...optional("purpose", channel.purpose),
  ...optional("archived", channel.archived ? "true" : ""),
  ...optional("ttl", channel.ttlSeconds === undefined ? "" : String(channel.ttlSeconds))
]

const optional = (name: string, value: string): ReadonlyArray<Tag> => (value === "" ? [] : [[name, value]])
