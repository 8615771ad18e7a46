/**
 * What a task brings to the relay besides its text, and what of the relay's state its verifier wants to see. This file is the
 * contract.
 */
import type { DirectoryEntry } from "@buzz-orchestra/relay/DirectoryIdentity"

/** A message that is sent right after the task, as somebody of the task. */
export interface ScriptedMessage {
  /** By which a verifier finds it. */
  readonly label: string
  /** `user`, or the identity id of an entry of the directory, which must be a member of the channel. */
  readonly actor: string
  /** `{orchestrator}` and `{user}` stand for the display names. Otherwise inert, as the task is. */
  readonly content: string
  /** Whether it is a reply to the task. Default: a message of its own. */
  readonly replyToTask?: boolean
  /** Whether it wakes the orchestrator. Default: it does. */
  readonly mentionOrchestrator?: boolean
}

/** What a task brings, and what its verifier wants to see. */
export interface TaskFixture {
  /** Display name of the user whom the task knows, the same in all its trials. Needs the owner's key, as the directory does. */
  readonly userName?: string
  /** Who else is to be found on the relay. */
  readonly directory?: ReadonlyArray<DirectoryEntry>
  readonly scripted?: ReadonlyArray<ScriptedMessage>
  /** Channels of exactly these names are looked for at the end, archived ones too, as the orchestrator sees them. */
  readonly observedChannels?: ReadonlyArray<string>
}

/** The actor who is the trial's user. */
export const TRIAL_USER = "user"

/** A scripted message that was sent. */
export interface ScriptedEvent {
  readonly label: string
  readonly eventId: string
  readonly actor: string
  readonly replyToEventId: string | undefined
}
