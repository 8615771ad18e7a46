/** The events that a person on a Buzz relay publishes, before signing. Tag order as the Buzz SDK writes it. */
import type { UserProfile } from "../BuzzClient.ts"
import * as EventKind from "../EventKind.ts"
import { type EventTemplate, type NostrEvent, type Tag } from "../NostrEvent.ts"

/** A profile merged over the one that exists; fields we do not know stay. */
export const profile = (
  existing: NostrEvent | undefined,
  fields: { readonly name: string; readonly about?: string },
  now: number
): EventTemplate => ({
  kind: EventKind.Profile,
  // A replaceable event must be newer than what it replaces, and clocks count whole seconds.
  created_at: existing === undefined ? now : Math.max(now, existing.created_at + 1),
  tags: [],
  content: JSON.stringify({
    ...profileFields(existing),
    display_name: fields.name,
    name: fields.name,
    ...(fields.about === undefined ? {} : { about: fields.about })
  })
})

/** The profile's fields; a profile that is no JSON object has none. */
export const profileFields = (event: NostrEvent | undefined): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(event?.content ?? "{}")
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {}
  } catch {
    return {}
  }
}

/** The name that people see: the display name where the field exists, as the programs have it. */
export const userProfile = (event: NostrEvent): UserProfile => ({
  pubkey: event.pubkey,
  name: profileName(profileFields(event))
})

/** The name in a profile's fields; an empty one is none. */
export const profileName = (fields: Readonly<Record<string, unknown>>): string | undefined => {
  const name = "display_name" in fields ? fields["display_name"] : fields["name"]
  return typeof name === "string" && name !== "" ? name : undefined
}

/** A private stream channel. */
export const createChannel = (
  channel: { readonly id: string; readonly name: string; readonly description?: string },
  now: number
): EventTemplate => ({
  kind: EventKind.CreateChannel,
  created_at: now,
  tags: [
    ["h", channel.id],
    ["name", channel.name],
    ["visibility", "private"],
    ["channel_type", "stream"],
    ...(channel.description === undefined ? [] : [["about", channel.description] as const])
  ],
  content: ""
})

/** An invitation that needs no answer. */
export const addMember = (
  member: { readonly channelId: string; readonly pubkey: string; readonly role: string },
  now: number
): EventTemplate => ({
  kind: EventKind.AddMember,
  created_at: now,
  tags: [
    ["h", member.channelId],
    ["p", member.pubkey],
    ["role", member.role]
  ],
  content: ""
})

/** The end of a channel; its events stay. */
export const archiveChannel = (channelId: string, now: number): EventTemplate => ({
  kind: EventKind.EditMetadata,
  created_at: now,
  tags: [
    ["h", channelId],
    ["archived", "true"]
  ],
  content: ""
})

/** A channel message; mentions are exactly the given keys. */
export const message = (
  message: {
    readonly channelId: string
    readonly content: string
    readonly mentions: ReadonlyArray<string>
    readonly parent: NostrEvent | undefined
  },
  now: number
): EventTemplate => ({
  kind: EventKind.Message,
  created_at: now,
  tags: [
    ["h", message.channelId],
    ...threadTags(message.parent),
    ...message.mentions.map((pubkey): Tag => ["p", pubkey])
  ],
  content: message.content
})

/** A reply to a thread's root has one tag; a reply to a reply names the root first (NIP-10 markers). */
export const threadTags = (parent: NostrEvent | undefined): ReadonlyArray<Tag> => {
  if (parent === undefined) return []
  const root = marked(parent, "root") ?? marked(parent, "reply")
  const reply: Tag = ["e", parent.id, "", "reply"]
  return root === undefined ? [reply] : [["e", root, "", "root"], reply]
}

const marked = (event: NostrEvent, marker: string): string | undefined =>
  event.tags.find((tag) => tag[0] === "e" && tag[3] === marker)?.[1]
