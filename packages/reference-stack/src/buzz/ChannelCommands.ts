/**
 * `buzz channels …`: channels and who is in them.
 */
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import { type NostrEvent, type Tag, tagValues } from "@buzz-orchestra/relay/NostrEvent"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { Options } from "./CommandLine.ts"
import { type Command, type CommandContext, hex64, natural, required, uuid } from "./CommandContext.ts"

const ROLES = ["owner", "admin", "member", "guest", "bot"]

const create: Command = {
  about: "Creates a channel; you are its owner.",
  options: [
    { name: "name", isRequired: true },
    { name: "type", isRequired: true, values: ["stream", "forum"] },
    { name: "visibility", isRequired: true, values: ["open", "private"] },
    { name: "description" }
  ],
  run: Effect.fnUntraced(function* (options: Options, context: CommandContext) {
    const channelId = randomUUID()
    const about = options["description"]?.[0]
    const tags: ReadonlyArray<Tag> = [
      ["h", channelId],
      ["name", required(options, "name")],
      ["visibility", required(options, "visibility")],
      ["channel_type", required(options, "type")],
      ...(about === undefined ? [] : [["about", about] as const])
    ]
    const result = yield* context.publish({ kind: EventKind.CreateChannel, tags, content: "" })
    return result.accepted ? { ...result, channel_id: channelId } : result
  })
}

const list: Command = {
  about: "Lists the channels you can see.",
  options: [{ name: "visibility", values: ["open", "private"] }, { name: "member", isFlag: true }, { name: "limit" }],
  run: Effect.fnUntraced(function* (options: Options, context: CommandContext) {
    const limit = (yield* natural(options, "limit", { fallback: 500 })) ?? 500
    const joined =
      options["member"] === undefined
        ? undefined
        : yield* context.query({ kinds: [EventKind.ChannelMembers], "#p": [context.self], limit })
    if (joined?.length === 0) return []
    const channels = yield* context.query({
      kinds: [EventKind.ChannelMetadata],
      ...(joined === undefined ? {} : { "#d": joined.flatMap((event) => tagValues(event, "d")) }),
      limit
    })
    const visibility = options["visibility"]?.[0]
    return channels
      .filter((event) => visibility === undefined || isPrivate(event) === (visibility === "private"))
      .map((event) => (context.format === "compact" ? brief(event) : { ...described(event) }))
  })
}

const get: Command = {
  about: "Prints one channel, or null.",
  options: [{ name: "channel", isRequired: true }],
  run: Effect.fnUntraced(function* (options: Options, context: CommandContext) {
    const channel = yield* uuid(options, "channel")
    const [event] = yield* context.query({ kinds: [EventKind.ChannelMetadata], "#d": [channel], limit: 1 })
    return event === undefined ? null : { ...described(event), pubkey: event.pubkey }
  })
}

const members: Command = {
  about: "Lists the members of a channel.",
  options: [{ name: "channel", isRequired: true }],
  run: Effect.fnUntraced(function* (options: Options, context: CommandContext) {
    const channel = yield* uuid(options, "channel")
    const [event] = yield* context.query({ kinds: [EventKind.ChannelMembers], "#d": [channel], limit: 1 })
    return memberTags(event).map(([, pubkey, , role]) => ({ pubkey, role: role || "member" }))
  })
}

const addMember: Command = {
  about: "Adds a member to a channel.",
  options: [
    { name: "channel", isRequired: true },
    { name: "pubkey", isRequired: true },
    { name: "role", values: ROLES }
  ],
  run: Effect.fnUntraced(function* (options: Options, context: CommandContext) {
    const role = options["role"]?.[0]
    const tags: ReadonlyArray<Tag> = [
      ["h", yield* uuid(options, "channel")],
      ["p", yield* hex64(options, "pubkey")],
      ...(role === undefined ? [] : [["role", role] as const])
    ]
    return yield* context.publish({ kind: EventKind.AddMember, tags, content: "" })
  })
}

const archive: Command = {
  about: "Archives a channel.",
  options: [{ name: "channel", isRequired: true }],
  run: Effect.fnUntraced(function* (options: Options, context: CommandContext) {
    const tags: ReadonlyArray<Tag> = [
      ["h", yield* uuid(options, "channel")],
      ["archived", "true"]
    ]
    return yield* context.publish({ kind: EventKind.EditMetadata, tags, content: "" })
  })
}

/** The `p` tags of a channel's member list. */
export const memberTags = (event: NostrEvent | undefined): ReadonlyArray<Tag> =>
  (event?.tags ?? []).filter((tag) => tag[0] === "p" && tag[1] !== undefined)

const isPrivate = (event: NostrEvent): boolean => event.tags.some((tag) => tag[0] === "private")

const brief = (event: NostrEvent) => ({
  channel_id: tagValues(event, "d")[0] ?? "",
  name: tagValues(event, "name")[0] ?? ""
})

const described = (event: NostrEvent) => ({
  ...brief(event),
  created_at: event.created_at,
  description: tagValues(event, "about")[0] ?? ""
})

/** The group, by command name. */
export const channelCommands: Readonly<Record<string, Command>> = {
  create,
  list,
  get,
  members,
  "add-member": addMember,
  archive
}
