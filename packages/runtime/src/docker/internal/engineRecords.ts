/**
 * The engine's answers as the rest of the package speaks of them. Pure.
 */
import type Docker from "dockerode"
import { Option, Schema } from "effect"
import type { ContainerEvent, ContainerState, ImageFacts, NetworkFacts, OwnedObject } from "../ContainerEngine.ts"
import type { AppliedSettings } from "../ContainerFacts.ts"
import type { ContainerLimits } from "../ContainerSpec.ts"
import { EVENT_NAMES } from "../EngineFlavor.ts"

/** Go's names of architectures as `uname -m` has them. */
const MACHINES: ReadonlyMap<string, string> = new Map([
  ["amd64", "x86_64"],
  ["arm64", "aarch64"],
  ["386", "i686"],
  ["arm", "armv7l"]
])

/** An architecture as `uname -m` names it. */
export const toMachine = (architecture: string): string => MACHINES.get(architecture) ?? architecture

/** An id as people read it; a name stays whole. */
export const short = (id: string): string => (/^[0-9a-f]{64}$/.test(id) ? id.slice(0, 12) : id)

const MIB = 1024 * 1024

/** Docker leaves fields out, says `null` or says 0 where there is no limit, depending on field and version. */
const limitsOf = (host: Partial<Docker.HostConfig>): ContainerLimits => {
  const { CpuPeriod = 0, CpuQuota = 0, Memory = 0, NanoCpus = 0, PidsLimit = 0, StorageOpt } = host
  const cpus = NanoCpus > 0 ? NanoCpus / 1e9 : CpuQuota > 0 && CpuPeriod > 0 ? CpuQuota / CpuPeriod : undefined
  const size = /^(\d+)M$/i.exec(StorageOpt?.["size"] ?? "")?.[1]
  return {
    ...(cpus === undefined ? {} : { cpus }),
    ...(Memory > 0 ? { memoryMb: Memory / MIB } : {}),
    ...(size === undefined ? {} : { storageMb: Number(size) }),
    ...(PidsLimit !== null && PidsLimit > 0 ? { pids: PidsLimit } : {})
  }
}

/** Podman calls every network of its own `bridge`; the container's list names it. */
const networkOf = (mode: string, networks: object | undefined | null): string =>
  mode === "none" || mode === "host" ? mode : (Object.keys(networks ?? {})[0] ?? mode)

const settingsOf = ({ Config, HostConfig, Mounts, NetworkSettings }: Docker.ContainerInspectInfo): AppliedSettings => ({
  limits: limitsOf(HostConfig),
  network: networkOf(HostConfig.NetworkMode ?? "", NetworkSettings.Networks),
  init: HostConfig.Init === true,
  user: Config.User ?? "",
  readOnlyRoot: HostConfig.ReadonlyRootfs === true,
  // Engines name them in any order.
  mounts: Mounts.filter(({ Type }) => Type !== "tmpfs")
    .map(({ Destination, Name, RW, Source }) => ({ source: Name ?? Source, target: Destination, readOnly: !RW }))
    .toSorted((a, b) => (a.target < b.target ? -1 : 1)),
  temporary: Object.keys((HostConfig.Tmpfs as Record<string, string> | undefined | null) ?? {})
})

/** Docker says nothing and Podman `private` where a container has its own. */
const sharing = (mode = ""): Pick<ContainerState, "sharesProcesses"> =>
  mode === "host" || mode.startsWith("container:") ? { sharesProcesses: mode } : {}

/** From `GET /containers/{id}/json`. */
export const toContainerState = (container: Docker.ContainerInspectInfo): ContainerState => ({
  id: container.Id,
  name: container.Name.replace(/^\//, ""),
  running: container.State.Running,
  paused: container.State.Paused,
  exitCode: container.State.Running ? undefined : container.State.ExitCode,
  outOfMemory: container.State.OOMKilled,
  ...sharing(container.HostConfig.PidMode),
  hostPid: container.State.Pid,
  image: container.Image,
  workDirectory: container.Config.WorkingDir ?? "",
  environment: container.Config.Env ?? [],
  labels: container.Config.Labels ?? {},
  applied: settingsOf(container),
  networks: Object.entries(container.NetworkSettings.Networks ?? {}).map(([name, { Gateway, IPAddress }]) => ({
    name,
    gateway: Gateway ?? "",
    address: IPAddress ?? ""
  }))
})

/** From `GET /images/{name}/json`. */
export const toImageFacts = (image: Docker.ImageInspectInfo): ImageFacts => ({
  id: image.Id,
  architecture: toMachine(image.Architecture),
  operatingSystem: image.Os,
  user: image.Config.User ?? "",
  workDirectory: image.Config.WorkingDir ?? "",
  environment: image.Config.Env ?? [],
  labels: image.Config.Labels ?? {}
})

/** From `GET /networks/{name}`. */
export const toNetworkFacts = (network: Docker.NetworkInspectInfo): NetworkFacts => ({
  name: network.Name,
  driver: network.Driver,
  internal: network.Internal,
  gateways: (network.IPAM?.Config ?? []).flatMap(({ Gateway, Subnet }) => {
    const gateway = Gateway || firstAddress(Subnet ?? "")
    return gateway === undefined ? [] : [gateway]
  })
})

/** Docker does not name the gateway of its default network, which is the first address of the subnet; IPv4 only. */
const firstAddress = (subnet: string): string | undefined => {
  const [, begin, last] = /^(\d+\.\d+\.\d+\.)(\d+)\/\d+$/.exec(subnet) ?? []
  return begin === undefined ? undefined : `${begin}${Number(last) + 1}`
}

/** One of ours; an object without a name is named by its id. */
export const toOwned = (
  kind: OwnedObject["kind"],
  id: string,
  name: string | undefined,
  labels: Record<string, string> | undefined | null
): OwnedObject => ({ kind, id, name: name ?? short(id), labels: labels ?? {} })

const decodeEvent = Schema.decodeOption(
  Schema.fromJsonString(
    Schema.Struct({ Action: Schema.optionalKey(Schema.String), status: Schema.optionalKey(Schema.String) })
  )
)

/** One line of `GET /events`; `undefined` for an event that nobody here asks about. */
export const toContainerEvent = (line: string): ContainerEvent | undefined => {
  const event = Option.getOrUndefined(decodeEvent(line))
  const action = event?.Action ?? event?.status ?? ""
  for (const name of Object.keys(EVENT_NAMES) as ReadonlyArray<ContainerEvent>) {
    if ((EVENT_NAMES[name] as ReadonlyArray<string>).includes(action)) return name
  }
  return undefined
}
