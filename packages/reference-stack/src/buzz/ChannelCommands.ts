/**
 * `buzz channels …`: making channels, and changing who is in them. Reading them is `ChannelReads`.
 */
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import type { Tag } from "@buzz-orchestra/relay/NostrEvent"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { channelReads } from "./ChannelReads.ts"
import type { Options, OptionSpec } from "./CommandLine.ts"
import { type Command, type CommandContext, hex64, required, uuid } from "./CommandContext.ts"

const ROLES = ["owner", "admin", "member", "guest", "bot"]

const CHANNEL: OptionSpec = { name: "channel", isRequired: true }
const PUBKEY: OptionSpec = { name: "pubkey", isRequired: true }

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

/** A command that publishes one event about one channel. */
const change = (about: string, kind: number, more: ReadonlyArray<Tag> = []): Command => ({
  about,
  options: [CHANNEL],
  run: Effect.fnUntraced(function* (options: Options, context: CommandContext) {
    const tags: ReadonlyArray<Tag> = [["h", yield* uuid(options, "channel")], ...more]
    return yield* context.publish({ kind, tags, content: "" })
  })
})

const addMember: Command = {
  about: "Adds a member to a channel.",
  options: [CHANNEL, PUBKEY, { name: "role", values: ROLES }],
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

const removeMember: Command = {
  about: "Removes a member from a channel.",
  options: [CHANNEL, PUBKEY],
  run: Effect.fnUntraced(function* (options: Options, context: CommandContext) {
    const tags: ReadonlyArray<Tag> = [
      ["h", yield* uuid(options, "channel")],
      ["p", yield* hex64(options, "pubkey")]
    ]
    return yield* context.publish({ kind: EventKind.RemoveMember, tags, content: "" })
  })
}

/** The group, by command name. */
export const channelCommands: Readonly<Record<string, Command>> = {
  create,
  ...channelReads,
  join: change("Joins an open channel.", EventKind.JoinChannel),
  leave: change("Leaves a channel.", EventKind.LeaveChannel),
  "add-member": addMember,
  "remove-member": removeMember,
  archive: change("Archives a channel: it can be read, not written to.", EventKind.EditMetadata, [
    ["archived", "true"]
  ]),
  unarchive: change("Opens an archived channel again.", EventKind.EditMetadata, [["archived", "false"]])
}
