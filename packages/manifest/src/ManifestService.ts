/**
 * Loads, validates and identifies a condition, and verifies what it pins.
 */
import { Context, type Effect } from "effect"
import type { Condition } from "./Condition.ts"
import type { Dialect } from "./Dialect.ts"
import type { EndpointLaunchConfig } from "./EndpointLaunchConfig.ts"
import type { AgentClass, ArtifactRef, ExperimentManifest } from "./ExperimentManifest.ts"
import type { ManifestError } from "./ManifestError.ts"

/** How to read a manifest. */
export interface LoadOptions {
  /** Read it as this dialect. Without it the dialect is found from what the document uses. */
  readonly dialect?: Dialect
}

/** One agent's credential, as far as the roster is concerned. */
export interface AgentKind {
  /** `<class id>-<number>`. */
  readonly agentId: string
  /** `orchestrator` or `worker`. */
  readonly kind: string
}

export class ManifestService extends Context.Service<
  ManifestService,
  {
    /** Reads a manifest: a string is the path of a YAML or JSON file (`~` is the home directory), anything else a decoded value. */
    load(source: unknown, options?: LoadOptions): Effect.Effect<Condition, ManifestError>
    /** Hashes the file `ref.path` under `root`, streaming, and returns its absolute path when the digest is the pinned one. */
    verifyArtifact(root: string, ref: ArtifactRef): Effect.Effect<string, ManifestError>
    /** The bytes of a pinned file; what was hashed is what is returned, whatever happens to the file meanwhile. */
    readArtifact(root: string, ref: ArtifactRef): Effect.Effect<Uint8Array, ManifestError>
    /** The class of each agent, in the order of the roster. Every agent has exactly one credential, of its class's kind. */
    classesByAgentId(
      manifest: ExperimentManifest,
      credentials: ReadonlyArray<AgentKind>
    ): Effect.Effect<ReadonlyMap<string, AgentClass>, ManifestError>
    /**
     * Reads an endpoints file (path or decoded value) and refuses identity overrides. With a manifest, the file must
     * have exactly the endpoints of its roster.
     */
    loadEndpoints(source: unknown, manifest?: ExperimentManifest): Effect.Effect<EndpointLaunchConfig, ManifestError>
  }
>()("@buzz-orchestra/manifest/ManifestService") {}
