/**
 * `BuzzClient` over HTTP: signed events to `/events`, filters to `/query`, without a program in between. What the events
 * look like is decided by `internal/templates`, what is tried again by `RetryPolicy`.
 */
import { Array, Clock, Duration, Effect, Layer, Result } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { HttpClient } from "effect/http"
import { type Actor, BuzzClient, type ChannelMember, type OutgoingMessage } from "./BuzzClient.ts"
import * as ChannelHistory from "./ChannelHistory.ts"
import * as EventKind from "./EventKind.ts"
import { signEvent, verifyEvent } from "./EventSigning.ts"
import { type Filter, newestFirst, oldestFirst } from "./Filter.ts"
import * as FoundChannel from "./FoundChannel.ts"
import { checkSize, MAX_PROFILES, mentionedKeys, wrap } from "./internal/buzzOperations.ts"
import { decodeEventValue } from "./internal/decodeEvent.ts"
import * as RelayHttp from "./internal/relayHttp.ts"
import { remembering } from "./internal/rememberedSignatures.ts"
import * as Templates from "./internal/templates.ts"
import { type EventTemplate, type NostrEvent, tagValues } from "./NostrEvent.ts"
import * as OwnerAttestation from "./OwnerAttestation.ts"
import { MentionNotStored, RelayRefused } from "./RelayError.ts"
import * as RetryPolicy from "./RetryPolicy.ts"
import { Schnorr } from "./Schnorr.ts"

/** How patient the client is. */
export interface BuzzClientNativeOptions {
  /** Default: `RetryPolicy.standard`. */
  readonly retry?: RetryPolicy.RetryPolicy
  /** For one attempt; default 10 seconds, as the `buzz` program. */
  readonly timeout?: Duration.Input
}

/** With other retries or another time-out. */
export const layerWith = (
  options: BuzzClientNativeOptions
): Layer.Layer<BuzzClient, never, HttpClient.HttpClient | Schnorr | SecureRandom.SecureRandom> =>
  Layer.effect(
    BuzzClient,
    Effect.suspend(() => make(options))
  )

/** With the documented retries and time-out. */
export const layer = layerWith({})

const make = Effect.fnUntraced(function* (options: BuzzClientNativeOptions) {
  const schnorr = remembering(yield* Schnorr)
  const http = yield* RelayHttp.make({
    retry: options.retry ?? RetryPolicy.standard,
    timeout: Duration.fromInputUnsafe(options.timeout ?? "10 seconds")
  })

  /** Signed once: every attempt sends the same id. Returns the event and the relay's answer. */
  const submit = Effect.fnUntraced(function* (actor: Actor, template: EventTemplate) {
    const tags = [...template.tags, ...OwnerAttestation.eventTags(actor.identity.authTag)]
    const event = signEvent(schnorr, { ...template, tags }, actor.identity.secretKey)
    const answer = yield* http.publish(actor, event)
    return { event, ...answer }
  })

  /** As `submit`, and fails when the relay did not accept. */
  const publish = Effect.fnUntraced(function* (actor: Actor, template: EventTemplate) {
    const { event, accepted, message } = yield* submit(actor, template)
    if (!accepted) return yield* refused(actor, message)
    return { event, message }
  })

  /** Events that verify. The relay is not trusted to have checked what it sends. */
  const query = Effect.fnUntraced(function* (actor: Actor, filter: Filter) {
    const values = yield* http.query(actor, [filter])
    const events: globalThis.Array<NostrEvent> = []
    for (const value of values) {
      // Each check is its own step, so that a long page does not hold up everything else.
      const event = yield* Effect.sync(() => verified(value))
      if (event !== undefined) events.push(event)
    }
    const dropped = values.length - events.length
    if (dropped > 0) yield* Effect.logWarning(`${dropped} events of ${actor.relayUrl} do not verify and were dropped`)
    return { events, size: values.length }
  })

  const verified = (value: unknown): NostrEvent | undefined => {
    const event = decodeEventValue(value)
    return Result.isSuccess(event) && verifyEvent(schnorr, event.success) ? event.success : undefined
  }

  const newest = (actor: Actor, filter: Filter) =>
    Effect.map(query(actor, { ...filter, limit: 1 }), ({ events }): NostrEvent | undefined => events[0])

  const membersOf = Effect.fnUntraced(function* (actor: Actor, channelId: string) {
    const state = yield* newest(actor, { kinds: [EventKind.ChannelMembers], "#d": [channelId] })
    return (state?.tags ?? []).flatMap((tag): ReadonlyArray<ChannelMember> => {
      const [name, pubkey, , role] = tag
      return name === "p" && pubkey !== undefined ? [{ pubkey, role: role || "member" }] : []
    })
  })

  const setProfile = Effect.fn("BuzzClient.setProfile")(function* (
    actor: Actor,
    profile: { readonly name: string; readonly about?: string }
  ) {
    const own: Filter = { kinds: [EventKind.Profile], authors: [actor.identity.pubkey] }
    const template = Templates.profile(yield* newest(actor, own), profile, yield* nowSeconds)
    const { message } = yield* publish(actor, template)
    if (!message.startsWith("duplicate:")) return
    // Accepted and yet not kept: either this very event is there already, or another one is newer.
    const kept = yield* newest(actor, own)
    if (kept?.content !== template.content) return yield* refused(actor, "a newer profile of this key exists")
  }, wrap("BuzzClient.setProfile"))

  const createChannel = Effect.fn("BuzzClient.createChannel")(function* (
    actor: Actor,
    channel: { readonly id: string; readonly name: string; readonly description?: string }
  ) {
    const { accepted, message } = yield* submit(actor, Templates.createChannel(channel, yield* nowSeconds))
    if (accepted) return channel.id
    const members = message.startsWith("duplicate:") ? yield* membersOf(actor, channel.id) : []
    const isOurs = members.some(({ pubkey, role }) => pubkey === actor.identity.pubkey && role === "owner")
    return isOurs ? channel.id : yield* refused(actor, message)
  }, wrap("BuzzClient.createChannel"))

  const profiles = Effect.fn("BuzzClient.profiles")(function* (actor: Actor, pubkeys: ReadonlyArray<string>) {
    const found = yield* Effect.forEach(Array.chunksOf(pubkeys, MAX_PROFILES), (authors) =>
      query(actor, { kinds: [EventKind.Profile], authors, limit: authors.length })
    )
    return found.flatMap(({ events }) => events.map(Templates.userProfile))
  }, wrap("BuzzClient.profiles"))

  const addMember = Effect.fn("BuzzClient.addMember")(function* (
    actor: Actor,
    member: { readonly channelId: string; readonly pubkey: string; readonly role: "member" | "bot" | "guest" | "admin" }
  ) {
    yield* publish(actor, Templates.addMember(member, yield* nowSeconds))
  }, wrap("BuzzClient.addMember"))

  const members = Effect.fn("BuzzClient.members")(membersOf, wrap("BuzzClient.members"))

  const findChannels = Effect.fn("BuzzClient.findChannels")(function* (actor: Actor, name: string) {
    const { events } = yield* query(actor, { kinds: [EventKind.ChannelMetadata], limit: MAX_SEARCHED })
    return events
      .map(FoundChannel.fromEvent)
      .filter((channel) => FoundChannel.isNamed(channel, name))
      .toSorted(FoundChannel.inOrder)
  }, wrap("BuzzClient.findChannels"))

  const archiveChannel = Effect.fn("BuzzClient.archiveChannel")(function* (actor: Actor, channelId: string) {
    yield* publish(actor, Templates.archiveChannel(channelId, yield* nowSeconds)).pipe(
      Effect.catchTag("RelayRefused", (reason) => (/archived/i.test(reason.detail) ? Effect.void : Effect.fail(reason)))
    )
  }, wrap("BuzzClient.archiveChannel"))

  const send = Effect.fn("BuzzClient.send")(function* (actor: Actor, message: OutgoingMessage) {
    yield* checkSize(message)
    const mentions = mentionedKeys(message)
    if (mentions.length > MAX_MENTIONS) return yield* refused(actor, `over ${MAX_MENTIONS} mentions in one message`)
    const parent = message.replyTo === undefined ? undefined : yield* parentOf(actor, message.replyTo)
    const { channelId, content } = message
    const template = Templates.message({ channelId, content, mentions, parent }, yield* nowSeconds)
    const { event } = yield* publish(actor, template)
    if (mentions.length > 0) yield* checkMentions(actor, event, mentions)
    return event
  }, wrap("BuzzClient.send"))

  const parentOf = Effect.fnUntraced(function* (actor: Actor, id: string) {
    const parent = yield* newest(actor, { ids: [id] })
    return parent ?? (yield* refused(actor, `parent event ${id} not found`))
  })

  const checkMentions = Effect.fnUntraced(function* (actor: Actor, event: NostrEvent, mentions: ReadonlyArray<string>) {
    const stored = yield* newest(actor, { ids: [event.id] })
    const kept = stored === undefined ? [] : tagValues(stored, "p")
    const missing = mentions.filter((pubkey) => !kept.includes(pubkey))
    if (missing.length > 0) return yield* new MentionNotStored({ eventId: event.id, missing })
  })

  const readChannel = Effect.fn("BuzzClient.readChannel")(function* (
    actor: Actor,
    channelId: string,
    options?: { readonly kinds?: ReadonlyArray<number> }
  ) {
    const kinds = options?.kinds ?? ChannelHistory.KINDS
    const seen = new Map<string, NostrEvent>()
    let last: NostrEvent | undefined
    for (;;) {
      const { events, size } = yield* query(actor, ChannelHistory.page(channelId, kinds, last))
      const fresh = events.filter((event) => !seen.has(event.id))
      for (const event of fresh) seen.set(event.id, event)
      last = events.toSorted(newestFirst).at(-1) ?? last
      const verdict = ChannelHistory.afterPage(size, fresh.length)
      if (verdict === "complete") break
      if (verdict === "stuck") return yield* ChannelHistory.stuck(actor.relayUrl, ChannelHistory.PAGE_SIZE)
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

/** Channels that one query asks for; a relay returns at most as many. */
const MAX_SEARCHED = 1000

/** The Buzz SDK allows as many. */
const MAX_MENTIONS = 50

const nowSeconds = Effect.map(Clock.currentTimeMillis, (millis) => Math.floor(millis / 1000))

const refused = (actor: Actor, detail: string) => new RelayRefused({ url: actor.relayUrl, status: undefined, detail })
