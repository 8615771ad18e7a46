/**
 * What provisioning a trial returns and everything after it works with: who takes part, in which channel, on which relay.
 */
import type { Redacted } from "effect"
import type { DirectoryIdentity } from "./DirectoryIdentity.ts"
import type { Identity } from "./Identity.ts"

/** One agent of the trial: an identity with its place in the roster. */
export interface AgentCredential {
  /** `<class-id>-<n>`, n from 1. Also the agent's display name. */
  readonly agentId: string
  /** The class's kind. */
  readonly kind: "orchestrator" | "worker"
  /** The class's free-text role (`lead`, `reviewer`); the kind stands in when it is empty. */
  readonly role: string
  readonly identity: Identity
  /** Name of the endpoint in the manifest, also the model id sent to the provider. */
  readonly endpoint: string
  /** The provider's API key for that endpoint; `undefined` when the endpoint needs none. */
  readonly apiKey: Redacted.Redacted<string> | undefined
}

/** The trial's human analogue: owns the channel, posts the task, observes. */
export interface TrialUser {
  /** Display name. */
  readonly name: string
  readonly identity: Identity
}

/** A provisioned trial. Secrets inside are `Redacted`. */
export interface TrialHandle {
  readonly runId: string
  readonly trialId: string
  /** sha256 of the condition, 64 hex. */
  readonly manifestHash: string
  /** The relay as the agents see it: `ws://` or `wss://`, without a trailing slash. */
  readonly relayUrl: string
  /** The relay as the user on the host sees it, http(s) or ws(s); `undefined` means the agents' URL. */
  readonly userRelayUrl: string | undefined
  /** UUID of the private channel. */
  readonly channelId: string
  /** Orchestrator first, then the roster's order. */
  readonly credentials: ReadonlyArray<AgentCredential>
  readonly user: TrialUser
  /** Who else the task expects on the relay; absent when nobody. */
  readonly directory?: ReadonlyArray<DirectoryIdentity>
}
