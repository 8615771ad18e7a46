/**
 * Which container an environment is, and what one that is made for it is given.
 */
import type { Duration, Effect } from "effect"
import type { StackFiles } from "../StackFiles.ts"
import type { ContainerLimits, ContainerMount, TemporaryMount } from "./ContainerSpec.ts"

/** Where the container comes from. */
export type ContainerSource =
  /** Made from an image that the engine has; nothing is pulled. Removed at the end. */
  | { readonly _tag: "Image"; readonly reference: string }
  /** Made from the image of a directory with a Dockerfile, built once per content. Removed at the end; the image stays. */
  | { readonly _tag: "Dockerfile"; readonly directory: string }
  /** By id or name. Exists and stays: only what we start in it is ended. */
  | { readonly _tag: "Container"; readonly id: string }

/** What only a container that is made can be given. */
export interface ContainerOptions {
  readonly limits?: ContainerLimits
  /** `public` (default), `none`, `host`, or the name of a network that exists. */
  readonly network?: string
  readonly mounts?: ReadonlyArray<ContainerMount>
  /** File systems in memory; their contents are gone at the end. */
  readonly temporary?: ReadonlyArray<TemporaryMount>
  /** Anybody who may inspect the container can read these: no secret belongs here. */
  readonly environment?: Readonly<Record<string, string>>
  /** The root file system is read-only, with file systems in memory where a trial must write. */
  readonly readOnlyRoot?: boolean
  /** The engine's own init before PID 1's command. Default false: PID 1 reaps without one, and nothing inside can end it. */
  readonly init?: boolean
  /** Hosts entries, `name:address`. */
  readonly extraHosts?: ReadonlyArray<string>
  /** The container ends by itself after this long, whatever became of its owner. Default one day. */
  readonly timeLimit?: Duration.Input
  /** Seen read-only in the layout's `bin`, when the engine is on this machine; otherwise installing uploads it. */
  readonly stack?: StackFiles
  /** Gets each line of an image build. */
  readonly onProgress?: (line: string) => Effect.Effect<void>
}

/** A container and whom it is for. */
export interface DockerEnvironmentOptions extends ContainerOptions {
  readonly source: ContainerSource
  /** Stand in the labels of what is made, and in its name. */
  readonly runId: string
  readonly trialId: string
  /** `uid`, `uid:gid` or a name; default: the image's. Everything of the trial runs as this user. */
  readonly user?: string
}
