/**
 * A relay without sockets for tests of its rules: the pure modules, driven by hand, with named people and a toy curve
 * that keeps signing and checking in step but costs nothing.
 */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js"
import { Redacted } from "effect"
import { signEvent } from "../../src/EventSigning.ts"
import type { Identity } from "../../src/Identity.ts"
import * as Nip42 from "../../src/Nip42.ts"
import type { EventTemplate, NostrEvent, Tag } from "../../src/NostrEvent.ts"
import type { SchnorrOps } from "../../src/Schnorr.ts"
import type { Outgoing } from "../../src/server/Delivery.ts"
import type * as KindRules from "../../src/server/KindRules.ts"
import * as EventStore from "../../src/server/EventStore.ts"
import * as Publish from "../../src/server/Publish.ts"
import * as Query from "../../src/server/Query.ts"
import * as RelayState from "../../src/server/RelayState.ts"
import * as RelayVoice from "../../src/server/RelayVoice.ts"
import * as Session from "../../src/server/Session.ts"

/** Anybody can forge its signatures; everything else about it is as with the real one. */
export const toySchnorr: SchnorrOps = {
  publicKey: (secret) => bytesToHex(sha256(secret)),
  sign: (digest, secret) => toySignature(digest, bytesToHex(sha256(secret))),
  verify: (signature, digest, publicKey) => bytesToHex(signature) === bytesToHex(toySignature(digest, publicKey))
}

const toySignature = (digest: Uint8Array, publicKey: string): Uint8Array => {
  const half = sha256(concatBytes(digest, hexToBytes(publicKey)))
  return concatBytes(half, half)
}

/** The same name is the same person. */
export const person = (name: string): Identity => {
  const secret = sha256(utf8ToBytes(name))
  return {
    pubkey: toySchnorr.publicKey(secret),
    secretKey: Redacted.make(bytesToHex(secret)),
    authTag: undefined
  }
}

export const RELAY_URL = "ws://127.0.0.1:3000"
export const NOW = 1_750_000_000
export const CHANNEL = "11111111-1111-4111-8111-111111111111"
export const OTHER_CHANNEL = "22222222-2222-4222-8222-222222222222"

export interface Draft {
  readonly kind: number
  readonly tags?: ReadonlyArray<Tag>
  readonly content?: string
  readonly created_at?: number
}

export const sign = (author: Identity, draft: Draft): NostrEvent =>
  signEvent(toySchnorr, { tags: [], content: "", created_at: NOW, ...draft }, author.secretKey)

/** Shorthands for the events that most tests need. */
export const createChannel = (id: string, visibility: "open" | "private" = "private"): Draft => ({
  kind: 9007,
  tags: [
    ["h", id],
    ["name", "general"],
    ["visibility", visibility],
    ["channel_type", "stream"]
  ]
})
export const message = (content: string, ...tags: ReadonlyArray<Tag>): Draft => ({
  kind: 9,
  content,
  tags: [["h", CHANNEL], ...tags]
})
export const addMember = (who: Identity, role?: string): Draft => ({
  kind: 9000,
  tags: [["h", CHANNEL], ["p", who.pubkey], ...(role === undefined ? [] : [["role", role] satisfies Tag])]
})

export interface RuledOptions extends Partial<Pick<RelayState.RelayRules, "urls" | "isHostBound" | "maxStoredBytes">> {
  /** Owner of a closed relay, which admits attested keys. */
  readonly closedTo?: string
}

/** Drives the pure relay. Time stands still unless a test moves `now`. */
export class RuledRelay {
  readonly self = person("relay")
  readonly rules: RelayState.RelayRules
  state = RelayState.empty
  now = NOW
  private nextConnection = 1
  private inbox = new Map<number, Array<ReadonlyArray<unknown>>>()

  constructor(options: RuledOptions = {}) {
    this.rules = {
      pubkey: this.self.pubkey,
      schnorr: toySchnorr,
      sign: (template: EventTemplate) => signEvent(toySchnorr, template, this.self.secretKey),
      urls: options.urls ?? [RELAY_URL],
      isHostBound: options.isHostBound ?? false,
      closed: options.closedTo === undefined ? undefined : { owner: options.closedTo, admitsAttested: true },
      clockSkewSeconds: RelayState.CLOCK_SKEW_SECONDS,
      maxStoredBytes: options.maxStoredBytes ?? Number.MAX_SAFE_INTEGER
    }
    this.state = RelayVoice.begin(RelayState.empty, this.rules, NOW)
  }

  /** Submits a signed event, by default as its author over HTTP. */
  submit(event: NostrEvent, options: { readonly by?: string; readonly via?: KindRules.Transport } = {}) {
    const submission = { event, by: options.by ?? event.pubkey, via: options.via ?? "http" }
    const published = Publish.publish(this.state, this.rules, submission, this.now)
    this.adopt(published.state, published.outgoing)
    return published.answer
  }

  /** Signs and submits; the answer's text, empty when all is well. */
  say(author: Identity, draft: Draft, via: KindRules.Transport = "http"): string {
    return this.submit(sign(author, { created_at: this.now, ...draft }), { via }).message
  }

  /** Signs and submits what must be accepted, and returns it. */
  must(author: Identity, draft: Draft, via: KindRules.Transport = "http"): NostrEvent {
    const event = sign(author, { created_at: this.now, ...draft })
    const answer = this.submit(event, { via })
    if (!answer.accepted || answer.message !== "") throw new Error(`refused: ${answer.message}`)
    return event
  }

  query(reader: Identity, ...filters: ReadonlyArray<Query.QueryFilter>): ReadonlyArray<NostrEvent> {
    return Query.run(this.state, this.rules, { filters, pubkey: reader.pubkey, now: this.now })
  }

  /** Opens a connection that has not authenticated. */
  open(): number {
    const id = this.nextConnection++
    this.inbox.set(id, [])
    this.step(Session.open(this.state, id, { challenge: CHALLENGE, urls: this.rules.urls }))
    return id
  }

  /** Opens a connection and authenticates; its inbox is empty then. */
  connect(who: Identity): number {
    const id = this.open()
    this.authenticate(id, who)
    this.received(id)
    return id
  }

  authenticate(id: number, who: Identity): void {
    const [relayUrl] = this.rules.urls
    this.tell(id, "AUTH", Nip42.authEvent(toySchnorr, who, { relayUrl, challenge: CHALLENGE, now: this.now }))
  }

  /** Sends one frame as a client. */
  tell(id: number, ...parts: ReadonlyArray<unknown>): void {
    this.tellText(id, JSON.stringify(parts))
  }

  tellText(id: number, text: string): void {
    this.step(Session.receive(this.state, this.rules, { id, text }, this.now))
  }

  close(id: number): void {
    this.state = Session.close(this.state, id)
  }

  /** The frames since the last call, decoded. */
  received(id: number): ReadonlyArray<ReadonlyArray<unknown>> {
    return this.inbox.get(id)?.splice(0) ?? []
  }

  /** The same, and they stay. */
  peek(id: number): ReadonlyArray<ReadonlyArray<unknown>> {
    return this.inbox.get(id) ?? []
  }

  /** All events that it keeps, whoever may see them. */
  everything(): ReadonlyArray<NostrEvent> {
    return EventStore.query(this.state.store, {}, () => true).map(({ event }) => event)
  }

  /** Takes over what a decision has led to; nothing is saved. */
  adopt(state: RelayState.RelayState, outgoing: ReadonlyArray<Outgoing>): void {
    this.state = { ...state, unsaved: [] }
    this.collect(outgoing)
  }

  private step([state, outgoing]: Session.Step): void {
    this.adopt(state, outgoing)
  }

  private collect(outgoing: ReadonlyArray<Outgoing>): void {
    for (const { frames, to } of outgoing)
      for (const frame of frames) this.inbox.get(to)?.push(JSON.parse(frame) as ReadonlyArray<unknown>)
  }
}

export const CHALLENGE = "c".repeat(64)
