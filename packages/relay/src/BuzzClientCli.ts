/**
 * `BuzzClient` through the `buzz` program, for sites where nothing else may speak with the relay. One process per call; what
 * a call prints is read by `internal/programReply`.
 *
 * The program shows less than the relay has: no signatures, no edits and no deletions. Ids are checked here; that a message
 * is signed by its author is the relay's word.
 */
import { Clock, Config, Duration, Effect, Layer, Option } from "effect"
import { ChildProcessSpawner } from "effect/process"
import { type Actor, BuzzClient, type ChannelMember, type OutgoingMessage } from "./BuzzClient.ts"
import * as ChannelHistory from "./ChannelHistory.ts"
import * as EventKind from "./EventKind.ts"
import { oldestFirst } from "./Filter.ts"
import * as FoundChannel from "./FoundChannel.ts"
import * as Calls from "./internal/buzzCalls.ts"
import { checkSize, MAX_PROFILES, mentionedKeys, wrap } from "./internal/buzzOperations.ts"
import * as Program from "./internal/buzzProgram.ts"
import { profileName } from "./internal/templates.ts"
import { type NostrEvent, tagValues } from "./NostrEvent.ts"
import { MentionNotStored, MentionsUnsupported } from "./RelayError.ts"
import * as RetryPolicy from "./RetryPolicy.ts"

/** Which program, and how patient the client is. */
export interface BuzzClientCliOptions {
  /** Path of the `buzz` program, or its name on `PATH`. */
  readonly program: string
  /** Default: `RetryPolicy.standard`. */
  readonly retry?: RetryPolicy.RetryPolicy
  /** For one call; default 30 seconds. The program itself waits 10 for the relay. */
  readonly timeout?: Duration.Input
}

export { NO_SIGNATURE } from "./internal/buzzCalls.ts"

/** Over this program. `PATH` is read once, for the program's own environment. */
export const layerWith = (
  options: BuzzClientCliOptions
): Layer.Layer<BuzzClient, never, ChildProcessSpawner.ChildProcessSpawner> =>
  Layer.effect(
    BuzzClient,
    Effect.suspend(() => make(options))
  )

const make = Effect.fnUntraced(function* (options: BuzzClientCliOptions) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const path = yield* Config.option(Config.String("PATH")).pipe(Effect.orElseSucceed(() => Option.none<string>()))
  const program: Program.BuzzProgramOptions = {
    program: options.program,
    path: Option.getOrUndefined(path),
    timeout: Duration.fromInputUnsafe(options.timeout ?? "30 seconds")
  }

  const { accepted, events, list, once, patiently, write } = Calls.make(
    spawner,
    program,
    options.retry ?? RetryPolicy.standard
  )

  const mentionsByKey = yield* Effect.cached(
    Effect.map(Program.textOf(spawner, program, ["messages", "send", "--help"]), (help) => help.includes("--mention"))
  )

  const setProfile = Effect.fn("BuzzClient.setProfile")(function* (
    actor: Actor,
    { about, name }: { readonly name: string; readonly about?: string }
  ) {
    const fields = [`--name=${name}`, ...(about === undefined ? [] : [`--about=${about}`])]
    yield* accepted(actor, ["users", "set-profile", ...fields])
  }, wrap("BuzzClient.setProfile"))

  const profiles = Effect.fn("BuzzClient.profiles")(function* (actor: Actor, pubkeys: ReadonlyArray<string>) {
    const pages = Array.from({ length: Math.ceil(pubkeys.length / MAX_PROFILES) }, (_, index) =>
      pubkeys.slice(index * MAX_PROFILES, (index + 1) * MAX_PROFILES)
    )
    const found = yield* Effect.forEach(pages, (page) =>
      patiently(list(actor, ["users", "get", ...page.flatMap((pubkey) => ["--pubkey", pubkey])]))
    )
    return found.flat().flatMap((fields) => {
      const { pubkey } = fields
      return typeof pubkey === "string" ? [{ pubkey, name: profileName(fields) }] : []
    })
  }, wrap("BuzzClient.profiles"))

  const createChannel = Effect.fn("BuzzClient.createChannel")(function* (
    actor: Actor,
    { description, name }: { readonly id: string; readonly name: string; readonly description?: string }
  ) {
    const existing = Effect.map(
      list(actor, ["channels", "list", "--member"]),
      (channels) =>
        channels.find((it) => it["name"] === name && (it["description"] || "") === (description ?? ""))?.["channel_id"]
    ).pipe(Effect.map((id) => (typeof id === "string" ? id : undefined)))
    const about = description === undefined ? [] : [`--description=${description}`]
    const create = Effect.flatMap(
      write(actor, ["channels", "create", `--name=${name}`, "--type", "stream", "--visibility", "private", ...about]),
      ({ accepted, channelId, message }) =>
        accepted && channelId !== undefined ? Effect.succeed(channelId) : Calls.refused(actor, message)
    )
    // Not only after a failure: a caller who repeats itself means the same channel.
    return (yield* patiently(existing)) ?? (yield* once(create, existing))
  }, wrap("BuzzClient.createChannel"))

  const addMember = Effect.fn("BuzzClient.addMember")(function* (
    actor: Actor,
    member: { readonly channelId: string; readonly pubkey: string; readonly role: "member" | "bot" | "guest" | "admin" }
  ) {
    const { channelId, pubkey, role } = member
    yield* accepted(actor, ["channels", "add-member", "--channel", channelId, "--pubkey", pubkey, "--role", role])
  }, wrap("BuzzClient.addMember"))

  const members = Effect.fn("BuzzClient.members")(function* (actor: Actor, channelId: string) {
    const found = yield* patiently(list(actor, ["channels", "members", "--channel", channelId]))
    return found.flatMap(({ pubkey, role }): ReadonlyArray<ChannelMember> =>
      typeof pubkey === "string" ? [{ pubkey, role: typeof role === "string" ? role : "member" }] : []
    )
  }, wrap("BuzzClient.members"))

  const findChannels = Effect.fn("BuzzClient.findChannels")(function* (actor: Actor, name: string) {
    const search = ["channels", "search", `--query=${name}`, "--exact", "--include-archived"]
    return (yield* patiently(list(actor, search))).map(FoundChannel.fromPrinted)
  }, wrap("BuzzClient.findChannels"))

  const archiveChannel = Effect.fn("BuzzClient.archiveChannel")(function* (actor: Actor, channelId: string) {
    yield* accepted(actor, ["channels", "archive", "--channel", channelId]).pipe(
      Effect.catchTag("RelayRefused", (reason) =>
        /archived/i.test(reason.detail) && !/authorized/.test(reason.detail) ? Effect.void : Effect.fail(reason)
      )
    )
  }, wrap("BuzzClient.archiveChannel"))

  const send = Effect.fn("BuzzClient.send")(function* (actor: Actor, message: OutgoingMessage) {
    const { channelId, content, replyTo } = message
    yield* checkSize(message)
    const mentions = mentionedKeys(message)
    if (mentions.length > 0 && !(yield* mentionsByKey))
      return yield* new MentionsUnsupported({ program: program.program })
    // The same words by the same author in the same second are one event anyway, so what is found since then is this message.
    const begun = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const channel = ["--channel", channelId]
    const post = Effect.flatMap(
      write(
        actor,
        [
          "messages",
          "send",
          ...channel,
          "--content",
          "-",
          ...(replyTo === undefined ? [] : ["--reply-to", replyTo]),
          ...mentions.flatMap((pubkey) => ["--mention", pubkey])
        ],
        content
      ),
      ({ accepted, eventId, message }) => (accepted ? Effect.succeed(eventId) : Calls.refused(actor, message))
    )
    const posted = Effect.map(
      events(actor, ["messages", "get", ...channel, "--since", String(begun), "--limit", String(PAGE_SIZE)]),
      (found) => found.find((it) => it.pubkey === actor.identity.pubkey && it.content === content)?.id
    )
    const id = yield* once(post, posted)
    const thread = yield* patiently(events(actor, ["messages", "thread", ...channel, "--event", id, "--limit", "1"]))
    const stored = thread.find((event) => event.id === id)
    if (stored === undefined)
      return yield* Calls.refused(actor, `the relay took the message ${id} and does not show it`)
    const missing = mentions.filter((pubkey) => !tagValues(stored, "p").includes(pubkey))
    if (missing.length > 0) return yield* new MentionNotStored({ eventId: id, missing })
    return stored
  }, wrap("BuzzClient.send"))

  const readChannel = Effect.fn("BuzzClient.readChannel")(function* (
    actor: Actor,
    channelId: string,
    options?: { readonly kinds?: ReadonlyArray<number> }
  ) {
    const kinds = (options?.kinds ?? ChannelHistory.KINDS).filter((kind) => READABLE.has(kind))
    const seen = new Map<string, NostrEvent>()
    let before: ReadonlyArray<string> = []
    while (kinds.length > 0) {
      const page = ["--limit", String(PAGE_SIZE), "--kinds", kinds.join(","), ...before]
      const found = yield* patiently(events(actor, ["messages", "get", "--channel", channelId, ...page]))
      const fresh = found.filter((event) => !seen.has(event.id))
      for (const event of fresh) seen.set(event.id, event)
      const verdict = ChannelHistory.afterPage(found.length, fresh.length, PAGE_SIZE)
      if (verdict === "complete") break
      if (verdict === "stuck") return yield* ChannelHistory.stuck(actor.relayUrl, PAGE_SIZE)
      // Inclusive: the rest of that second is on the next page.
      before = ["--before", String(Math.min(...found.map((event) => event.created_at)))]
    }
    return [...seen.values()].filter((event) => ChannelHistory.belongsTo(event, channelId)).toSorted(oldestFirst)
  }, wrap("BuzzClient.readChannel"))

  return BuzzClient.of({
    setProfile,
    profiles,
    createChannel,
    addMember,
    members,
    findChannels,
    archiveChannel,
    send,
    readChannel
  })
})

/** Messages that one call prints, at most; more are cut off without a word. */
const PAGE_SIZE = 200

/** The kinds that the program prints. */
const READABLE: ReadonlySet<number> = new Set([
  EventKind.Message,
  EventKind.MessageV2,
  EventKind.Diff,
  EventKind.ForumPost,
  EventKind.ForumComment
])
