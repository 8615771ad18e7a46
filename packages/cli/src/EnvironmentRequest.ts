/**
 * Where a person wants a trial to run, as the flags of `run` and `demo` say it. Pure.
 */
import type { ContainerLimits } from "@buzz-orchestra/runtime/docker/ContainerSpec"
import type { ContainerSource } from "@buzz-orchestra/runtime/docker/DockerEnvironmentOptions"
import { Result } from "effect"
import { UsageInvalid } from "./CommandError.ts"
import type { EnvironmentName } from "./EnvironmentName.ts"
import { enumerate } from "./internal/enumerate.ts"

/** A local sandbox, this machine without one, or a container. */
export type EnvironmentRequest = { readonly _tag: "Local" } | { readonly _tag: "Plain" } | ContainerRequest

/** A container: one that is made with these settings, or one that exists and has its own. */
export interface ContainerRequest {
  readonly _tag: "Container"
  readonly source: RequestedSource
  /** What the flags say; what they leave out, the manifest may say. */
  readonly limits: ContainerLimits
  /** `public`, `none`, `host` or a network's name; default: `public`. */
  readonly network: string | undefined
  /** `uid`, `uid:gid` or a name; default: the image's, or the existing container's. Also of a container that exists. */
  readonly user: string | undefined
}

/** Where a container comes from; `ThisMachine` is made of this machine's own programs, and needs no image. */
export type RequestedSource = ContainerSource | { readonly _tag: "ThisMachine" }

/** The flags' values. Names are those of the flags. */
export interface EnvironmentFlags {
  readonly environment: EnvironmentName
  readonly image: string | undefined
  readonly dockerfile: string | undefined
  readonly container: string | undefined
  /** MiB. */
  readonly memory: number | undefined
  readonly cpus: number | undefined
  /** MiB. */
  readonly storage: number | undefined
  /** Processes and threads. */
  readonly pids: number | undefined
  readonly network: string | undefined
  readonly user: string | undefined
}

const SOURCES = ["image", "dockerfile", "container"] as const
/** Of a container that is made. Of one that exists they are what they are. */
const SETTINGS = ["memory", "cpus", "storage", "pids", "network"] as const

/**
 * What the flags ask for, or why they do not go together. `fallback` is the container of a command that needs none to be named.
 */
export const parseEnvironment = (
  flags: EnvironmentFlags,
  fallback?: RequestedSource
): Result.Result<EnvironmentRequest, UsageInvalid> => {
  const given = (names: ReadonlyArray<(typeof SOURCES | typeof SETTINGS)[number] | "user">) =>
    names.filter((name) => flags[name] !== undefined).map((name) => `--${name}`)
  const [sources, settings] = [given(SOURCES), given(SETTINGS)]
  if (flags.environment !== "docker") {
    const foreign = [...sources, ...settings, ...given(["user"])]
    if (foreign.length === 0) return Result.succeed({ _tag: flags.environment === "local" ? "Local" : "Plain" })
    const where = flags.environment === "local" ? "in a local sandbox" : "without a sandbox"
    return invalid(
      `${enumerate(foreign)} ${foreign.length === 1 ? "means" : "mean"} nothing ${where}`,
      `add --environment docker, or leave ${enumerate(foreign)} out`
    )
  }
  if (sources.length > 1) return invalid(`${enumerate(sources)} name more than one container`, `give one: ${CHOICES}`)
  if (flags.container !== undefined && settings.length > 0)
    return invalid(
      `${enumerate(settings)} cannot be changed of a container that exists`,
      `leave ${enumerate(settings)} out, or have a container made with --image REF or --dockerfile DIR`
    )
  const source = sourceOf(flags) ?? fallback
  if (source === undefined) return invalid("no container is given", `give one: ${CHOICES}`)
  const { cpus, memory, network, pids, storage, user } = flags
  const limits: ContainerLimits = {
    ...(cpus === undefined ? {} : { cpus }),
    ...(memory === undefined ? {} : { memoryMb: memory }),
    ...(storage === undefined ? {} : { storageMb: storage }),
    ...(pids === undefined ? {} : { pids })
  }
  return Result.succeed({ _tag: "Container", source, limits, network, user })
}

const CHOICES = "--image REF, --dockerfile DIR, or --container ID of one that runs"

const sourceOf = ({ container, dockerfile, image }: EnvironmentFlags): ContainerSource | undefined => {
  if (image !== undefined) return { _tag: "Image", reference: image }
  if (dockerfile !== undefined) return { _tag: "Dockerfile", directory: dockerfile }
  return container === undefined ? undefined : { _tag: "Container", id: container }
}

const invalid = (detail: string, instead: string) => Result.fail(new UsageInvalid({ detail, instead }))
