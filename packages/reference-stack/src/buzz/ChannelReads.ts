/**
 * What `buzz channels …` reads: the channels of the relay, and who is in them.
 */
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import { type NostrEvent, type Tag, tagValues } from "@buzz-orchestra/relay/NostrEvent"
import { Effect } from "effect"
import type { Options } from "./CommandLine.ts"
import { type Command, type CommandContext, natural, required, uuid } from "./CommandContext.ts"
import { failed } from "./CommandFailed.ts"

/** Channels that one search looks at; the relay answers with no more. */
const MAX_SEARCHED = 1000

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

const search: Command = {
  about: "Finds channels by name, in any case: the whole of it with --exact, else a part.",
  options: [
    { name: "query", isRequired: true },
    { name: "exact", isFlag: true },
    { name: "include-archived", isFlag: true },
    { name: "limit" }
  ],
  keepsOrder: true,
  run: Effect.fnUntraced(function* (options: Options, context: CommandContext) {
    const query = asciiLower(required(options, "query"))
    if (query.trim() === "") return yield* failed("user_error", "search query must not be empty")
    const limit = (yield* natural(options, "limit", { fallback: MAX_SEARCHED, cap: MAX_SEARCHED })) ?? MAX_SEARCHED
    const channels = yield* context.query({ kinds: [EventKind.ChannelMetadata], limit })
    const matches = (name: string) => (options["exact"] === undefined ? name.includes(query) : name === query)
    return channels
      .map(found)
      .filter(({ name }) => matches(asciiLower(name)))
      .filter(({ archived }) => !archived || options["include-archived"] !== undefined)
      .toSorted((a, b) => order(a.name, b.name) || order(a.channel_id, b.channel_id))
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

/** The only objects that are printed in this order, not the alphabet's. */
const found = (event: NostrEvent) => ({
  ...brief(event),
  channel_type: tagValues(event, "t")[0] ?? "stream",
  // Not `open`, which is the word for it everywhere else.
  visibility: isPrivate(event) ? "private" : "public",
  archived: tagValues(event, "archived")[0] === "true",
  about: tagValues(event, "about")[0] ?? null,
  topic: tagValues(event, "topic")[0] ?? null,
  purpose: tagValues(event, "purpose")[0] ?? null,
  ttl_seconds: seconds(tagValues(event, "ttl")[0])
})

const seconds = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : null

const asciiLower = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The reading half of the group, by command name. */
export const channelReads: Readonly<Record<string, Command>> = { list, get, search, members }
