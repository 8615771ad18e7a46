/**
 * `buzz messages …`: sending and reading.
 */
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import type { Filter } from "@buzz-orchestra/relay/Filter"
import { type NostrEvent, type Tag } from "@buzz-orchestra/relay/NostrEvent"
import { Effect } from "effect"
import { memberTags } from "./ChannelReads.ts"
import { checkedHex64, type Command, type CommandContext, hex64, natural, required, uuid } from "./CommandContext.ts"
import { failed } from "./CommandFailed.ts"
import type { Options } from "./CommandLine.ts"
import * as Mentions from "./Mentions.ts"
import * as Thread from "../Thread.ts"

/** What may be sent: a message, a forum's post, a comment on one. */
const SENDABLE_KINDS = [EventKind.Message, EventKind.ForumPost, EventKind.ForumComment]

/** Bytes of UTF-8 that a message may have. */
const MAX_CONTENT_BYTES = 65_536

const MESSAGE_KINDS = [
  EventKind.Message,
  EventKind.MessageV2,
  EventKind.Diff,
  EventKind.ForumPost,
  EventKind.ForumComment
]
const THREAD_KINDS = [
  EventKind.Message,
  EventKind.MessageV2,
  EventKind.MessageEdit,
  EventKind.Diff,
  EventKind.ForumComment
]

const send: Command = {
  about: "Sends a message; --content - reads stdin. `@name` mentions a member by name, --mention anybody by key.",
  options: [
    { name: "channel", isRequired: true },
    { name: "content", isRequired: true },
    { name: "kind", values: SENDABLE_KINDS.map(String) },
    { name: "reply-to" },
    { name: "mention", isRepeatable: true },
    { name: "broadcast", isFlag: true }
  ],
  run: Effect.fnUntraced(function* (options: Options, context: CommandContext) {
    const channel = yield* uuid(options, "channel")
    const given = required(options, "content")
    const content = given === "-" ? yield* context.stdin : given
    const size = Buffer.byteLength(content)
    if (size > MAX_CONTENT_BYTES)
      return yield* failed("user_error", `content exceeds maximum size (${size} > ${MAX_CONTENT_BYTES} bytes)`)
    const kind = Number(options["kind"]?.[0] ?? EventKind.Message)
    if (kind === EventKind.ForumComment && options["reply-to"] === undefined)
      return yield* failed("user_error", `--kind ${kind} requires --reply-to`)
    const asked = options["mention"] && (yield* Effect.forEach(options["mention"], checkedHex64))
    const thread = options["reply-to"] === undefined ? [] : yield* threadTags(options, context)
    // Who is named by key is all who are meant: the text is then only a text, whatever signs are in it.
    const mentions = new Set(asked ?? [...(yield* namedIn(content, channel, context)), ...Mentions.links(content)])
    if (mentions.size > Mentions.MAX_MENTIONS)
      return yield* failed(
        "error",
        `build_message failed: too many mentions (${mentions.size} > ${Mentions.MAX_MENTIONS})`
      )
    const tags: ReadonlyArray<Tag> = [
      ["h", channel],
      ...thread,
      ...[...mentions].map((pubkey) => ["p", pubkey] as const),
      ...(options["broadcast"] === undefined ? [] : [["broadcast", "1"] as const])
    ]
    return yield* context.publish({ kind, tags, content })
  })
}

const threadTags = Effect.fnUntraced(function* (options: Options, context: CommandContext) {
  const id = yield* hex64(options, "reply-to")
  const [parent] = yield* context.query({ ids: [id], limit: 1 })
  if (parent === undefined) return yield* failed("error", `parent event ${id} not found`)
  return Thread.replyTags(parent)
})

/** Looks names up only when there may be one. A relay that does not answer costs the mention, not the message. */
const namedIn = (content: string, channel: string, context: CommandContext) =>
  content.includes("@")
    ? Effect.gen(function* () {
        const [state] = yield* context.query({ kinds: [EventKind.ChannelMembers], "#d": [channel], limit: 1 })
        const pubkeys = memberTags(state).flatMap(([, pubkey]) => (pubkey === undefined ? [] : [pubkey]))
        if (pubkeys.length === 0) return []
        const profiles = yield* context.query({ kinds: [EventKind.Profile], authors: pubkeys, limit: pubkeys.length })
        const names = new Map(profiles.map((event) => [event.pubkey, Mentions.profileName(event.content)]))
        return Mentions.resolve(
          content,
          pubkeys.map((pubkey) => ({ pubkey, name: names.get(pubkey) }))
        )
      }).pipe(Effect.orElseSucceed((): ReadonlyArray<string> => []))
    : Effect.succeed<ReadonlyArray<string>>([])

const get: Command = {
  about: "Prints the newest messages of a channel, oldest first.",
  options: [
    { name: "channel", isRequired: true },
    { name: "limit" },
    { name: "before" },
    { name: "since" },
    { name: "kinds" }
  ],
  run: Effect.fnUntraced(function* (options: Options, context: CommandContext) {
    const until = yield* natural(options, "before", {})
    const since = yield* natural(options, "since", {})
    const events = yield* context.query({
      kinds: yield* kindsOf(options),
      "#h": [yield* uuid(options, "channel")],
      limit: (yield* natural(options, "limit", { fallback: 50, cap: 200 })) ?? 50,
      ...(until === undefined ? {} : { until }),
      ...(since === undefined ? {} : { since })
    })
    return printed(events, context)
  })
}

/** With a depth the relay answers from its table of threads. */
interface ThreadFilter extends Filter {
  readonly depth_limit?: number
}

const thread: Command = {
  about: "Prints a thread, its root included, oldest first.",
  options: [
    { name: "channel", isRequired: true },
    { name: "event", isRequired: true },
    { name: "limit" },
    { name: "depth-limit" }
  ],
  run: Effect.fnUntraced(function* (options: Options, context: CommandContext) {
    const root = yield* hex64(options, "event")
    const limit = (yield* natural(options, "limit", { fallback: 100, cap: 500 })) ?? 100
    const depth = yield* natural(options, "depth-limit", {})
    const replies: ThreadFilter = {
      kinds: THREAD_KINDS,
      "#h": [yield* uuid(options, "channel")],
      "#e": [root],
      limit,
      ...(depth === undefined ? {} : { depth_limit: depth })
    }
    const events = yield* context.query(replies, { ids: [root], limit: 1 })
    return printed([...new Map(events.map((event) => [event.id, event])).values()], context)
  })
}

const kindsOf = (options: Options) => {
  const text = options["kinds"]?.[0]
  if (text === undefined) return Effect.succeed(MESSAGE_KINDS)
  const kinds = text.split(",").map((part) => part.trim())
  return kinds.every((kind) => /^\d{1,5}$/.test(kind))
    ? Effect.succeed(kinds.map(Number))
    : Effect.fail(failed("user_error", `invalid kinds: ${text}`))
}

const printed = (events: ReadonlyArray<NostrEvent>, { format }: CommandContext): ReadonlyArray<unknown> =>
  events
    .toSorted((a, b) => a.created_at - b.created_at)
    .map(({ content, created_at, id, kind, pubkey, tags }) =>
      format === "compact" ? { content, created_at, id } : { content, created_at, id, kind, pubkey, tags }
    )

/** The group, by command name. */
export const messageCommands: Readonly<Record<string, Command>> = { send, get, thread }
