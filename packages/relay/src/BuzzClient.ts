/**
 * What a person can do on a Buzz relay. This file is the contract; `BuzzClientNative` speaks with the relay itself,
 * `BuzzClientCli` through the `buzz` program.
 */
import { Context, type Effect } from "effect"
import type { FoundChannel } from "./FoundChannel.ts"
import type { Identity } from "./Identity.ts"
import type { NostrEvent } from "./NostrEvent.ts"
import type { RelayError } from "./RelayError.ts"

/** Who acts, and on which relay (http(s) or ws(s); both views of a relay are equal). */
export interface Actor {
  readonly relayUrl: string
  readonly identity: Identity
}

/** Somebody in a channel. */
export interface ChannelMember {
  readonly pubkey: string
  /** `owner`, `admin`, `member`, `guest` or `bot`. */
  readonly role: string
}

/** A message that is to be posted: its text as it is, public keys that it mentions, and the event that it answers. */
export interface OutgoingMessage {
  readonly channelId: string
  readonly content: string
  readonly mentions?: ReadonlyArray<string>
  readonly replyTo?: string
}

/** Somebody as the relay introduces them. */
export interface UserProfile {
  readonly pubkey: string
  /** `undefined` when the profile has none. */
  readonly name: string | undefined
}

/**
 * Acts on a relay as a person does. Every method names its actor; nothing is kept between calls. What is sent may be sent
 * again under the same id, so a failure leaves at most what was asked for.
 */
export class BuzzClient extends Context.Service<
  BuzzClient,
  {
    /** Publishes the profile (kind 0), merged over the one the relay has. */
    setProfile(
      actor: Actor,
      profile: { readonly name: string; readonly about?: string }
    ): Effect.Effect<void, RelayError>
    /** Who of these has a profile; the others are missing. In no order. */
    profiles(actor: Actor, pubkeys: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<UserProfile>, RelayError>
    /**
     * Creates a private stream channel and returns its id, the given UUID: so a repeated attempt cannot make two. The `buzz`
     * program chooses the id itself; through it the channel is known again by its name and description.
     */
    createChannel(
      actor: Actor,
      channel: { readonly id: string; readonly name: string; readonly description?: string }
    ): Effect.Effect<string, RelayError>
    addMember(
      actor: Actor,
      member: {
        readonly channelId: string
        readonly pubkey: string
        readonly role: "member" | "bot" | "guest" | "admin"
      }
    ): Effect.Effect<void, RelayError>
    members(actor: Actor, channelId: string): Effect.Effect<ReadonlyArray<ChannelMember>, RelayError>
    /** Every channel of this name that the actor may see, archived ones too, by name and id. Case of ASCII is ignored. */
    findChannels(actor: Actor, name: string): Effect.Effect<ReadonlyArray<FoundChannel>, RelayError>
    /** Archives the channel; one that is archived already counts as done. */
    archiveChannel(actor: Actor, channelId: string): Effect.Effect<void, RelayError>
    /**
     * Posts `content` as it is, over HTTP. Mentions are the given public keys only: text is data, never markup. Fails with
     * `MessageTooLong` before anything is sent, and with `MentionNotStored` when the stored event lacks an asked `p` tag.
     */
    send(actor: Actor, message: OutgoingMessage): Effect.Effect<NostrEvent, RelayError>
    /** Every message of the channel, paged to its root, verified, oldest first (created_at, then id). */
    readChannel(
      actor: Actor,
      channelId: string,
      options?: { readonly kinds?: ReadonlyArray<number> }
    ): Effect.Effect<ReadonlyArray<NostrEvent>, RelayError>
  }
>()("@buzz-orchestra/relay/BuzzClient") {}

/** A channel message may have this many bytes of UTF-8 (the limit of the `buzz` program). */
export const MAX_MESSAGE_BYTES = 65_536
