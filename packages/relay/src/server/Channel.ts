/**
 * A channel and who may do what in it. A value: changes return a new channel.
 */
import { Result } from "effect"
import { type NostrEvent, tagValues } from "../NostrEvent.ts"

/** What a member is in a channel. */
export type Role = "owner" | "admin" | "member" | "guest" | "bot"

const ROLES: ReadonlySet<string> = new Set<Role>(["owner", "admin", "member", "guest", "bot"])

/** Open channels can be read and joined by every key, private ones by their members. */
export type Visibility = "open" | "private"

/** Everything the relay knows about a channel. */
export interface Channel {
  /** UUID, lower case. */
  readonly id: string
  readonly name: string
  /** Empty when nobody has set it; likewise `topic` and `purpose`. */
  readonly about: string
  readonly topic: string
  readonly purpose: string
  readonly visibility: Visibility
  readonly type: "stream" | "forum"
  readonly ttlSeconds: number | undefined
  readonly archived: boolean
  /** A deleted channel stays known, so that its id is not given out again. Nobody can read it. */
  readonly deleted: boolean
  /** Public key to role, in the order of joining. */
  readonly members: ReadonlyMap<string, Role>
}

/** Whether this can be the id of a channel: a UUID in its canonical form, lower case with hyphens. */
export const isChannelId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)

/** The id in the event's `h` tag; one that cannot be a channel's counts as missing. */
export const namedIn = (event: Pick<NostrEvent, "tags">): string | undefined => {
  const id = tagValues(event, "h")[0]?.toLowerCase()
  return id !== undefined && isChannelId(id) ? id : undefined
}

/** Whether this text names a role. */
export const isRole = (text: string): text is Role => ROLES.has(text)

/** Owners and admins administer a channel. */
export const isElevated = (role: Role | undefined): boolean => role === "owner" || role === "admin"

/** The role of a key, or nothing when it is no member. */
export const roleOf = (channel: Channel, pubkey: string): Role | undefined => channel.members.get(pubkey)

/** Whether this key may read the channel and write into it. */
export const isAccessible = (channel: Channel | undefined, pubkey: string): boolean =>
  channel !== undefined && !channel.deleted && (channel.visibility === "open" || channel.members.has(pubkey))

/** The channel with this member in this role; an existing member keeps its place. */
export const withMember = (channel: Channel, pubkey: string, role: Role): Channel => ({
  ...channel,
  members: new Map(channel.members).set(pubkey, role)
})

/** The channel without this member. */
export const withoutMember = (channel: Channel, pubkey: string): Channel => ({
  ...channel,
  members: new Map([...channel.members].filter(([member]) => member !== pubkey))
})

/** Whether the channel would be left without an owner if this one went. */
export const isLastOwner = (channel: Channel, pubkey: string): boolean =>
  roleOf(channel, pubkey) === "owner" && [...channel.members.values()].filter((role) => role === "owner").length === 1

/** The failure is the relay's text, which has no colon here. */
export const parseVisibility = (text: string): Result.Result<Visibility, string> =>
  text === "open" || text === "private" ? Result.succeed(text) : Result.fail(`invalid visibility: ${text}`)

/** The failure is the relay's text, which has no colon here. */
export const parseType = (text: string): Result.Result<Channel["type"], string> =>
  text === "stream" || text === "forum" ? Result.succeed(text) : Result.fail(`invalid channel_type: ${text}`)
