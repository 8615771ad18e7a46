/**
 * What a task brings to the relay besides its text, and what of the relay's state its verifier wants to see. This file is the
 * contract; names are those of the evidence that verifiers read.
 */
import type { Identity } from "@buzz-orchestra/relay/Identity"

/** Somebody who exists on the relay for the task, as its profile says. Two may share a name, none an `identityId`. */
export interface DirectoryEntry {
  /** Stable within the task. */
  readonly identityId: string
  /** Display name. */
  readonly name: string
  /** Such as `user` or `bot`. */
  readonly role: string
  /** 64 hex. */
  readonly pubkey: string
  /** Text of the profile; empty when it has none. */
  readonly about: string
}

/** Somebody other than the trial's user who says something. It never reaches the environment. */
export interface ScriptedActor {
  readonly identityId: string
  readonly identity: Identity
}

/** A message that is sent right after the task, as somebody of the task. */
export interface ScriptedMessage {
  /** By which a verifier finds it. */
  readonly label: string
  readonly actor: "user" | ScriptedActor
  /** `{orchestrator}` and `{user}` stand for the display names. Otherwise inert, as the task is. */
  readonly content: string
  /** Whether it is a reply to the task. Default: a message of its own. */
  readonly replyToTask?: boolean
  /** Whether it wakes the orchestrator. Default: it does. */
  readonly mentionOrchestrator?: boolean
}

/** What a task brings, and what its verifier wants to see. */
export interface TaskFixture {
  readonly directory?: ReadonlyArray<DirectoryEntry>
  readonly scripted?: ReadonlyArray<ScriptedMessage>
  /** Channels of exactly these names are looked for at the end, archived ones too, as the orchestrator sees them. */
  readonly observedChannels?: ReadonlyArray<string>
}

/** A scripted message that was sent. */
export interface ScriptedEvent {
  readonly label: string
  readonly eventId: string
  /** `user` or the actor's identity id. */
  readonly actor: string
  readonly replyToEventId: string | undefined
}
