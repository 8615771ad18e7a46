/**
 * Creates and tears down a trial's identities and private channel. This file is the contract; the implementation is
 * `TrialProvisionerLive`, its memory `TrialHandleStore`.
 */
import type { ExperimentManifest } from "@buzz-orchestra/manifest/ExperimentManifest"
import { Context, type Effect, type Redacted } from "effect"
import type { DirectoryEntry } from "./DirectoryIdentity.ts"
import type { Identity } from "./Identity.ts"
import type { ProvisioningError } from "./ProvisioningError.ts"
import type { TrialHandle } from "./TrialHandle.ts"

/** Which trial to make, on which relay, with which keys. */
export interface ProvisionRequest {
  readonly runId: string
  readonly trialId: string
  readonly manifest: ExperimentManifest
  /** sha256 of the condition, 64 hex. */
  readonly manifestHash: string
  /** The relay as the agents will dial it (ws or wss). */
  readonly relayUrl: string
  /** The relay as this process dials it, when that differs. */
  readonly userRelayUrl?: string
  /** API keys by endpoint name. An endpoint mapped to `undefined` needs none; one that is absent is an error. */
  readonly apiKeys: Readonly<Record<string, Redacted.Redacted<string> | undefined>>
  /** Attests every key of the trial, for relays that admit only attested ones. */
  readonly ownerKey?: Redacted.Redacted<string>
  /** A user that exists already and keeps its profile; default: a fresh key. */
  readonly user?: { readonly name: string; readonly identity: Identity }
  /** The user of a task that names its own, the same in all its trials; goes before `user`. Needs the owner's key. */
  readonly taskUser?: { readonly taskName: string; readonly name: string }
  /** Who else is to be found on the relay. Their keys are derived from the owner's, which must be given. */
  readonly directory?: ReadonlyArray<DirectoryEntry>
  /** Prefix of the channel's name, such as the task's short name. */
  readonly channelLabel?: string
}

/** One step of a teardown and how it ended; `error` is the rendered reason. */
export interface TeardownStep {
  readonly step: string
  readonly error: string | undefined
}

/**
 * Whether a teardown archives the channel. Without, the trial stays as it is, its saved handle included. Read where the
 * teardown is done, so it may be provided around one call.
 */
export const ArchiveOnTeardown = Context.Reference<boolean>("@buzz-orchestra/relay/ArchiveOnTeardown", {
  defaultValue: () => true
})

/** Makes trials and takes them down. */
export class TrialProvisioner extends Context.Service<
  TrialProvisioner,
  {
    /**
     * Idempotent per (runId, trialId): a repeated call returns the first call's handle, one with another manifest hash
     * fails with `TrialConflict`. When a step fails, everything made before it is undone (the channel is archived). It can be
     * interrupted as long as it works, also by a caller who cannot be, and undoes then as well; a trial that is made is
     * returned all the same, so that such a caller never loses one.
     */
    create(request: ProvisionRequest): Effect.Effect<TrialHandle, ProvisioningError>
    /**
     * Archives the channel and then forgets the handle, unless `ArchiveOnTeardown` says otherwise. Never fails: each step's
     * result is returned.
     */
    teardown(handle: TrialHandle): Effect.Effect<ReadonlyArray<TeardownStep>>
    /**
     * Whether the relay answers as ready and its clock agrees; with a user also whether what the user publishes can be read
     * back: a profile, where there is none yet.
     */
    healthcheck(
      relayUrl: string,
      user?: { readonly name: string; readonly identity: Identity }
    ): Effect.Effect<void, ProvisioningError>
  }
>()("@buzz-orchestra/relay/TrialProvisioner") {}
