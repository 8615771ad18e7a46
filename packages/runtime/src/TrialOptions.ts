/**
 * Everything one trial is run with: what, where from, on which relay, and the clocks that guard it.
 */
import type { Condition } from "@buzz-orchestra/manifest/Condition"
import type { EndpointLaunchConfig } from "@buzz-orchestra/manifest/EndpointLaunchConfig"
import type { Identity } from "@buzz-orchestra/relay/Identity"
import { Duration, type Redacted } from "effect"
import type { TaskFixture } from "./TaskFixture.ts"
import type { AgentUsers } from "./AgentUsers.ts"
import type { StackFiles } from "./StackFiles.ts"

/** What one trial is run with. */
export interface TrialOptions {
  readonly condition: Condition
  /** Directory that the manifest's artifact paths are relative to. */
  readonly artifactRoot: string
  /** How each endpoint of the roster is reached, by endpoint name. */
  readonly endpoints: EndpointLaunchConfig
  /** API keys by endpoint name; `undefined` for an endpoint that needs none. */
  readonly apiKeys: Readonly<Record<string, Redacted.Redacted<string> | undefined>>
  /** The task, posted once as the user. Untrusted text: it is data everywhere. */
  readonly instruction: string
  readonly runId: string
  readonly trialId: string
  /** The relay as the agents dial it: `ws://` or `wss://`. */
  readonly relayUrl: string
  /** The relay as this process dials it, when that differs. */
  readonly userRelayUrl?: string
  /** Attests every key of the trial, for relays that admit only attested ones. */
  readonly ownerKey?: Redacted.Redacted<string>
  /** A user that exists already; default: a fresh key under the name `user`. */
  readonly user?: { readonly name: string; readonly identity: Identity }
  /** Prefix of the channel's name. */
  readonly channelLabel?: string
  readonly stack: StackFiles
  /** `host:port` of the relay as seen from the environment; when given, a forwarder bridges it to the relay's own address. */
  readonly relayGateway?: string
  /**
   * For a caller that keeps the environment for another trial. `keep`: the forwarder is still running at the end, spared by the
   * sweep. `adopt`: one that an earlier trial kept is taken over, if it listens and leads where this trial's would. Default: neither.
   */
  readonly forwarder?: { readonly keep?: boolean; readonly adopt?: boolean }
  /** The trial directory on this machine; made when missing. */
  readonly directory: string
  /** Task files that are put into the environment before anything is launched. A folder is copied whole. */
  readonly uploads?: ReadonlyArray<{ readonly source: string; readonly target: string }>
  /**
   * Name of a task whose verifier grades what happened on the relay. The evidence of every trial is put into the environment
   * once the stack has ended, as `artifacts/buzz-evidence.json` below the logs; a trial of such a task fails without it.
   */
  readonly evidenceFor?: string
  /** What the task brings to the relay besides its text, and what of the relay its verifier wants to see. */
  readonly fixture?: TaskFixture
  /** How long the agents, and before them the forwarder, may take to be ready. Default 60 s. */
  readonly readinessTimeout?: Duration.Input
  /** How long to wait for usage that agents still owe, before they are ended. Default 60 s. */
  readonly settleTimeout?: Duration.Input
  /** Model calls per turn for classes that set none; 0, the default, means unbounded. */
  readonly maxAgentRounds?: number
  /** Whom the agents run as. Default `image`; what that means, and why it is the default, is told in `AgentUsers`. */
  readonly agentUsers?: AgentUsers
  /** `all` also ends what agents started as services of the task. Default `stack`. */
  readonly sweep?: "stack" | "all"
  /** Log directives of the operator; the ones this runtime reads are always added after them. */
  readonly operatorRustLog?: string
}

/** How long agents may take to be ready unless the options say otherwise. */
export const DEFAULT_READINESS_TIMEOUT = Duration.seconds(60)

/** How long owed usage is waited for unless the options say otherwise. */
export const DEFAULT_SETTLE_TIMEOUT = Duration.seconds(60)

/** Unbounded: the trial's own clock is the limit. */
export const DEFAULT_MAX_AGENT_ROUNDS = 0
