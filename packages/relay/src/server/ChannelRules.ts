/**
 * Administration of channels: who may do what, and what it changes. Every rule takes the channel and the signed
 * request and returns the change or the relay's text of refusal; nothing is published here, see `ChannelEvents`.
 */
import { Result } from "effect"
import * as EventKind from "../EventKind.ts"
import { type NostrEvent, tagValues } from "../NostrEvent.ts"
import * as Channel from "./Channel.ts"

/** What a person reads in the channel about a change (content of kind 40099). */
export interface Notice {
  readonly type: string
  readonly actor: string
  readonly target?: string
}

/** What a request does to a channel. */
export interface ChannelChange {
  readonly channel: Channel.Channel
  /** Keys that became members. */
  readonly added: ReadonlyArray<string>
  /** Keys that are members no longer. */
  readonly removed: ReadonlyArray<string>
  readonly notices: ReadonlyArray<Notice>
}

/** What the relay knows about a key that somebody wants to add or remove. */
export interface TargetFacts {
  /** From the key's agent profile (kind 10100); `anyone` without one. */
  readonly addPolicy: string
  /** Who attested the key when it authenticated. */
  readonly owner: string | undefined
}

type Decision = Result.Result<ChannelChange | undefined, string>

/**
 * Decides a request about an existing channel; nothing changes when the kind is not administrative. `facts` is asked
 * only about the key in the request's `p` tag.
 */
export const decide = (
  channel: Channel.Channel,
  request: NostrEvent,
  facts: (pubkey: string) => TargetFacts
): Decision => {
  switch (request.kind) {
    case EventKind.AddMember:
      return addMember(channel, request, facts)
    case EventKind.RemoveMember:
      return removeMember(channel, request, facts)
    case EventKind.EditMetadata:
      return editMetadata(channel, request)
    case EventKind.JoinChannel:
      return join(channel, request.pubkey)
    case EventKind.LeaveChannel:
      return leave(channel, request.pubkey)
    case EventKind.DeleteChannel:
      return deleteChannel(channel, request.pubkey)
    default:
      return Result.succeed(undefined)
  }
}

/** A new channel, owned by the author of the request. */
export const create = (id: string, request: NostrEvent): Result.Result<ChannelChange, string> =>
  Result.gen(function* () {
    const name = first(request, "name")?.trim() ?? ""
    if (name === "") return yield* Result.fail("invalid: channel name is required")
    const ttl = first(request, "ttl")
    const channel: Channel.Channel = {
      id,
      name,
      about: first(request, "about") ?? "",
      topic: "",
      purpose: "",
      visibility: yield* Channel.parseVisibility(first(request, "visibility") ?? "open"),
      type: yield* Channel.parseType(first(request, "channel_type") ?? "stream"),
      ttlSeconds: ttl === undefined ? undefined : yield* parseTtl(ttl),
      archived: false,
      deleted: false,
      members: new Map([[request.pubkey, "owner"]])
    }
    const notices = [{ type: "channel_created", actor: request.pubkey }]
    return { channel, added: [request.pubkey], removed: [], notices }
  })

const addMember = (channel: Channel.Channel, request: NostrEvent, facts: (pubkey: string) => TargetFacts): Decision => {
  const target = targetOf(request)
  if (target === undefined) return Result.fail("invalid: missing p tag")
  const role = first(request, "role") ?? "member"
  if (!Channel.isRole(role)) return Result.fail(`invalid: invalid role: ${role}`)
  const actorRole = Channel.roleOf(channel, request.pubkey)
  if (channel.visibility === "private" && actorRole === undefined) return Result.fail("invalid: actor not authorized")
  const mayElevate = Channel.isElevated(actorRole)
  if (channel.visibility === "private" && Channel.isElevated(role) && !mayElevate)
    return Result.fail("invalid: only owners/admins may grant elevated roles")
  const refusal = refusedByPolicy(facts(target), request.pubkey, target)
  if (refusal !== undefined) return Result.fail(refusal)
  // In an open channel the relay accepts the request and then does nothing.
  if (Channel.isElevated(role) && !mayElevate) return Result.succeed(undefined)
  const current = Channel.roleOf(channel, target)
  if (current !== undefined) {
    const keeps = current === role || !mayElevate || (role !== "owner" && Channel.isLastOwner(channel, target))
    return Result.succeed(unchanged(keeps ? channel : Channel.withMember(channel, target, role)))
  }
  return Result.succeed({
    channel: Channel.withMember(channel, target, role),
    added: [target],
    removed: [],
    notices: [{ type: "member_joined", actor: request.pubkey, target }]
  })
}

const removeMember = (
  channel: Channel.Channel,
  request: NostrEvent,
  facts: (pubkey: string) => TargetFacts
): Decision => {
  const target = targetOf(request)
  if (target === undefined) return Result.fail("invalid: missing p tag")
  if (target === request.pubkey) return leave(channel, target, "member_removed")
  const actorRole = Channel.roleOf(channel, request.pubkey)
  const isOwnerOfAgent = actorRole !== undefined && facts(target).owner === request.pubkey
  if (!Channel.isElevated(actorRole) && !isOwnerOfAgent) return Result.fail("invalid: actor not authorized")
  if (Channel.roleOf(channel, target) === undefined) return Result.succeed(unchanged(channel))
  return withoutMember(channel, target, { type: "member_removed", actor: request.pubkey, target })
}

const join = (channel: Channel.Channel, pubkey: string): Decision => {
  if (channel.visibility === "private") return Result.fail("restricted: channel is private")
  if (Channel.roleOf(channel, pubkey) !== undefined) return Result.succeed(unchanged(channel))
  return Result.succeed({
    channel: Channel.withMember(channel, pubkey, "member"),
    added: [pubkey],
    removed: [],
    notices: [{ type: "member_joined", actor: pubkey, target: pubkey }]
  })
}

const leave = (channel: Channel.Channel, pubkey: string, type = "member_left"): Decision =>
  Channel.roleOf(channel, pubkey) === undefined
    ? Result.fail("invalid: actor is not an active member")
    : withoutMember(channel, pubkey, { type, actor: pubkey, target: pubkey })

const withoutMember = (channel: Channel.Channel, target: string, notice: Notice): Decision =>
  Channel.isLastOwner(channel, target)
    ? Result.fail("invalid: cannot remove the last owner")
    : Result.succeed({
        channel: Channel.withoutMember(channel, target),
        added: [],
        removed: [target],
        notices: [notice]
      })

const deleteChannel = (channel: Channel.Channel, actor: string): Decision =>
  Channel.roleOf(channel, actor) === "owner"
    ? Result.succeed({
        channel: { ...channel, deleted: true, members: new Map() },
        added: [],
        removed: [...channel.members.keys()],
        notices: [{ type: "channel_deleted", actor }]
      })
    : Result.fail("invalid: only owner can delete group")

const ADMIN_FIELDS = ["name", "about", "archived", "visibility", "ttl"] as const
const MEMBER_FIELDS = ["topic", "purpose"] as const

const editMetadata = (channel: Channel.Channel, request: NostrEvent): Decision =>
  Result.gen(function* () {
    const role = Channel.roleOf(channel, request.pubkey)
    const names = new Set(request.tags.map((tag) => tag[0]))
    const changesAdminFields = ADMIN_FIELDS.some((name) => names.has(name))
    if (changesAdminFields && !Channel.isElevated(role))
      return yield* Result.fail("invalid: actor not authorized for name/about/archived/visibility/ttl changes")
    if (!changesAdminFields && !MEMBER_FIELDS.some((name) => names.has(name)))
      return yield* Result.fail(
        "invalid: kind:9002 must include at least one metadata tag (name, about, topic, purpose, visibility, ttl, archived)"
      )
    if (role === undefined) return yield* Result.fail("invalid: not a member")
    const name = first(request, "name")?.trim()
    if (name === "") return yield* Result.fail("invalid: channel name is required")
    const ttl = first(request, "ttl")
    const visibility = first(request, "visibility")
    const archived = first(request, "archived")
    const edited: Channel.Channel = {
      ...channel,
      name: name ?? channel.name,
      about: first(request, "about") ?? channel.about,
      topic: first(request, "topic") ?? channel.topic,
      purpose: first(request, "purpose") ?? channel.purpose,
      visibility: visibility === undefined ? channel.visibility : yield* Channel.parseVisibility(visibility),
      ttlSeconds: ttl === undefined ? channel.ttlSeconds : yield* parseTtl(ttl),
      archived: archived === undefined ? channel.archived : archived === "true"
    }
    return { channel: edited, added: [], removed: [], notices: metadataNotices(channel, edited, request.pubkey) }
  })

const metadataNotices = (before: Channel.Channel, after: Channel.Channel, actor: string): ReadonlyArray<Notice> => {
  const changes: ReadonlyArray<readonly [boolean, string]> = [
    [before.topic !== after.topic, "topic_changed"],
    [before.purpose !== after.purpose, "purpose_changed"],
    [before.visibility !== after.visibility, "visibility_changed"],
    [before.ttlSeconds !== after.ttlSeconds, "ttl_changed"],
    [before.archived !== after.archived, after.archived ? "channel_archived" : "channel_unarchived"]
  ]
  return changes.flatMap(([changed, type]) => (changed ? [{ type, actor }] : []))
}

const refusedByPolicy = ({ addPolicy, owner }: TargetFacts, actor: string, target: string): string | undefined => {
  if (actor === target) return undefined
  if (addPolicy === "nobody") return "invalid: policy:nobody — this agent does not accept being added to channels"
  if (addPolicy === "owner_only" && actor !== owner)
    return "invalid: policy:owner_only — only the owner of this agent may add it to channels"
  return undefined
}

const parseTtl = (text: string): Result.Result<number, string> =>
  /^[1-9][0-9]{0,8}$/.test(text) ? Result.succeed(Number(text)) : Result.fail(`invalid ttl: ${text}`)

const unchanged = (channel: Channel.Channel): ChannelChange => ({ channel, added: [], removed: [], notices: [] })

/** A `p` tag that is no key counts as missing. */
const targetOf = (request: NostrEvent): string | undefined =>
  tagValues(request, "p").find((value) => /^[0-9a-f]{64}$/.test(value))

const first = (event: NostrEvent, name: string): string | undefined => tagValues(event, name)[0]
