/**
 * What a trial's record says about its container: the settings that its engine reports, not the ones that were asked for.
 */
import type { ContainerLimits, ContainerMount } from "./ContainerSpec.ts"
import type { EngineFlavor } from "./EngineFlavor.ts"

/** A container's limits and surroundings as its engine reports them. */
export interface AppliedSettings {
  /** Absent: the engine sets none. */
  readonly limits: ContainerLimits
  /** `bridge`, `none`, `host`, or a network's name. */
  readonly network: string
  /** Whether the engine put an init of its own before PID 1's command. */
  readonly init: boolean
  /** As the engine was told: `uid`, `uid:gid` or a name; empty is root. */
  readonly user: string
  readonly readOnlyRoot: boolean
  readonly mounts: ReadonlyArray<ContainerMount>
  /** Targets of file systems in memory. */
  readonly temporary: ReadonlyArray<string>
}

/** What is known about the container of an environment. */
export interface ContainerFacts {
  readonly id: string
  readonly engine: { readonly flavor: EngineFlavor; readonly version: string; readonly address: string }
  readonly image: {
    /** As it was named; of an existing container its image's id. */
    readonly reference: string
    readonly id: string
  }
  readonly applied: AppliedSettings
  /** After this long the container ends by itself; absent for one that is not ours. */
  readonly timeLimitSeconds?: number
}
