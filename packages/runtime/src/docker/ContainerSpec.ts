/**
 * A container as it is asked for, and the body of `POST /containers/create` that follows from it. Pure.
 */
import { type EngineFlavor, traitsOf } from "./EngineFlavor.ts"

/** Limits on a container; absent means the engine's own. */
export interface ContainerLimits {
  /** Cores, fractions allowed. */
  readonly cpus?: number
  /** Without swap on top. */
  readonly memoryMb?: number
  /** Of the writable layer. Only where the engine's storage driver can: others refuse it. */
  readonly storageMb?: number
  /** Processes and threads. */
  readonly pids?: number
}

/** A directory, file or volume made visible in a container. */
export interface ContainerMount {
  /** An absolute path on the engine's host, which must exist, or the name of a volume. */
  readonly source: string
  readonly target: string
  readonly readOnly: boolean
}

/** A file system in memory. */
export interface TemporaryMount {
  readonly target: string
  /** Default: half of the host's memory, as the kernel has it; it counts against the container's memory limit. */
  readonly sizeMb?: number
}

/** A container as it is asked for. */
export interface ContainerSpec {
  readonly name: string
  readonly image: string
  /** What PID 1 runs; replaces the image's entry point, which may swallow commands. */
  readonly command: ReadonlyArray<string>
  /** Signal that the command ends at. */
  readonly stopSignal: string
  readonly labels: Readonly<Record<string, string>>
  readonly limits: ContainerLimits
  /** `public` (the engine's bridge), `none`, `host`, or the name of a network. */
  readonly network: string
  /** An init of the engine's before the command. */
  readonly init: boolean
  /** Added to the image's; anybody who may inspect the container can read it. */
  readonly environment: Readonly<Record<string, string>>
  readonly mounts: ReadonlyArray<ContainerMount>
  readonly temporary: ReadonlyArray<TemporaryMount>
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

/** The request's body for an engine of this flavor. Its stdin is open and ends when the one who attached to it is gone. */
export const createBody = (spec: ContainerSpec, flavor: EngineFlavor) => {
  const traits = traitsOf(flavor)
  const { cpus, memoryMb, pids, storageMb } = spec.limits
  const hosts = traits.hostGateway === undefined ? spec.extraHosts : [...spec.extraHosts, traits.hostGateway]
  return {
    Image: spec.image,
    Entrypoint: [...spec.command],
    Cmd: [],
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: false,
    AttachStderr: false,
    StopSignal: spec.stopSignal,
    // The image's own check would run beside the trial, in its limits.
    Healthcheck: { Test: ["NONE"] },
    Labels: { ...spec.labels },
    Env: Object.entries(spec.environment).map(([name, value]) => `${name}=${value}`),
    ...(spec.user === undefined ? {} : { User: spec.user }),
    HostConfig: {
      Init: spec.init,
      NetworkMode: spec.network === "public" ? "bridge" : spec.network,
      ReadonlyRootfs: spec.readOnlyRoot,
      Mounts: spec.mounts.map(mountBody),
      Tmpfs: Object.fromEntries(spec.temporary.map(({ sizeMb, target }) => [target, tmpfsOptions(sizeMb)])),
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

/** A `Mounts` entry is refused when its source is missing; a `Binds` entry would make a directory of that name on the host. */
const mountBody = ({ readOnly, source, target }: ContainerMount) => ({
  Type: source.startsWith("/") ? ("bind" as const) : ("volume" as const),
  Source: source,
  Target: target,
  ReadOnly: readOnly
})

/** Programs of the stack run from there, and everybody may write there: the engine's own default forbids the first. */
const tmpfsOptions = (sizeMb: number | undefined): string =>
  ["rw", "exec", "nosuid", "nodev", "mode=1777", ...(sizeMb === undefined ? [] : [`size=${sizeMb}m`])].join(",")
