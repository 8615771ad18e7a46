/**
 * A container as it is asked for, and the body of `POST /containers/create` that follows from it. Pure.
 */
import { type EngineFlavor, traitsOf } from "./EngineFlavor.ts"

/** Limits on a container; absent means the engine's own. */
export interface ContainerLimits {
  /** Cores, fractions allowed. */
  readonly cpus?: number
  readonly memoryMb?: number
  /** Only where the engine's storage driver can: others refuse it. */
  readonly storageMb?: number
  /** Processes and threads. */
  readonly pids?: number
}

/** A directory, file or volume made visible in a container. */
export interface ContainerMount {
  /** An absolute path on the engine's host, or the name of a volume. */
  readonly source: string
  readonly target: string
  readonly readOnly: boolean
}

export interface ContainerSpec {
  readonly name: string
  readonly image: string
  /** What PID 1 runs; replaces the image's entry point, which may swallow commands. */
  readonly command: ReadonlyArray<string>
  readonly labels: Readonly<Record<string, string>>
  readonly limits: ContainerLimits
  /** `public` (the engine's bridge), `none`, or the name of a network. */
  readonly network: string
  /** A reaping PID 1 by the engine. */
  readonly init: boolean
  readonly environment: Readonly<Record<string, string>>
  readonly mounts: ReadonlyArray<ContainerMount>
  /** `uid`, `uid:gid` or a name; default: the image's. */
  readonly user?: string | undefined
  readonly readOnlyRoot: boolean
  /** Hosts entries, `name:address`. */
  readonly extraHosts: ReadonlyArray<string>
}

const MIB = 1024 * 1024

/** Podman in places that may not raise limits needs both given, and the process limit below its own. */
const ULIMITS = [
  { Name: "nofile", Soft: 16_384, Hard: 16_384 },
  { Name: "nproc", Soft: 32_768, Hard: 32_768 }
]

/** The request's body for an engine of this flavor. */
export const createBody = (spec: ContainerSpec, flavor: EngineFlavor) => {
  const traits = traitsOf(flavor)
  const { cpus, memoryMb, pids, storageMb } = spec.limits
  const hosts = traits.hostGateway === undefined ? spec.extraHosts : [...spec.extraHosts, traits.hostGateway]
  return {
    name: spec.name,
    Image: spec.image,
    Entrypoint: [...spec.command],
    Cmd: [],
    Labels: { ...spec.labels },
    Env: Object.entries(spec.environment).map(([name, value]) => `${name}=${value}`),
    ...(spec.user === undefined ? {} : { User: spec.user }),
    HostConfig: {
      Init: spec.init,
      NetworkMode: spec.network === "public" ? "bridge" : spec.network,
      ReadonlyRootfs: spec.readOnlyRoot,
      Binds: spec.mounts.map(({ readOnly, source, target }) => `${source}:${target}:${readOnly ? "ro" : "rw"}`),
      // A container without a network of its own takes no hosts entries.
      ExtraHosts: spec.network === "none" || spec.network === "host" ? [] : hosts,
      ...(cpus === undefined ? {} : { NanoCpus: Math.round(cpus * 1e9) }),
      // Without MemorySwap the container may swap as much again, and the limit is not what was recorded.
      ...(memoryMb === undefined ? {} : { Memory: memoryMb * MIB, MemorySwap: memoryMb * MIB }),
      ...(storageMb === undefined ? {} : { StorageOpt: { size: `${storageMb}M` } }),
      ...(pids === undefined ? {} : { PidsLimit: pids }),
      ...(traits.ulimitsReplaceDefaults ? { Ulimits: ULIMITS } : {})
    }
  }
}
