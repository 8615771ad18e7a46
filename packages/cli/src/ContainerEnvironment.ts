/**
 * A trial's environment in a container of the chosen engine. Loaded only when a container is asked for: the engine's client is
 * large.
 */
import { ContainerEngine } from "@buzz-orchestra/runtime/docker/ContainerEngine"
import type { ContainerLimits } from "@buzz-orchestra/runtime/docker/ContainerSpec"
import * as DockerEnvironment from "@buzz-orchestra/runtime/docker/DockerEnvironment"
import type { DockerEnvironmentOptions } from "@buzz-orchestra/runtime/docker/DockerEnvironmentOptions"
import { type HostGateway, hostGateway } from "@buzz-orchestra/runtime/docker/HostGateway"
import { HostProcess } from "@buzz-orchestra/runtime/docker/HostProcess"
import { Reaper } from "@buzz-orchestra/runtime/docker/Reaper"
import type { EnvironmentError } from "@buzz-orchestra/runtime/EnvironmentError"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { nodeBeside } from "@buzz-orchestra/runtime/SandboxPlan"
import type { StackFiles } from "@buzz-orchestra/runtime/StackFiles"
import type { Duration } from "effect"
import { Effect, type FileSystem, Layer, type Path } from "effect"
import * as ChosenEngine from "./ChosenEngine.ts"
import { CommandError, EngineUnavailable, UsageInvalid } from "./CommandError.ts"
import type { ContainerRequest } from "./EnvironmentRequest.ts"
import { HostAccess, type Way } from "./HostAccess.ts"
import { isOwnAddress } from "./internal/ownAddress.ts"
import { thisMachine } from "./ThisMachine.ts"

/** For whom the container is. */
export interface ContainerTrial {
  /** As typed. */
  readonly command: string
  readonly runId: string
  readonly trialId: string
  readonly stack: StackFiles
  /** The programs are scripts, and no Node is among them. */
  readonly needsNode: boolean
  /** What the manifest says; the request's own limits come before them. */
  readonly limits: ContainerLimits
  /** After which a container of ours ends whatever became of this process. */
  readonly timeLimit: Duration.Input
  /** Gets each line of an image build. */
  readonly onProgress: (line: string) => Effect.Effect<void>
}

/**
 * The environment, and the way from it to this machine. The layer's scope owns what it makes; while it is built, what dead owners
 * left in the engine is removed.
 */
export const layer = (
  request: ContainerRequest,
  trial: ContainerTrial
): Layer.Layer<EnvironmentService | HostAccess, CommandError | EnvironmentError, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(HostAccess, wayFrom(trial.command)).pipe(
    Layer.provideMerge(environmentLayer(request, trial)),
    Layer.merge(Reaper.layerAtStart.pipe(Layer.provide(Reaper.layer))),
    Layer.provide([ChosenEngine.layer(trial.command), HostProcess.layer])
  )

const environmentLayer = (request: ContainerRequest, trial: ContainerTrial) =>
  Layer.unwrap(
    Effect.map(sourceOf(request, trial), (source) =>
      DockerEnvironment.layer({
        ...source,
        runId: trial.runId,
        trialId: trial.trialId,
        limits: { ...trial.limits, ...request.limits },
        timeLimit: trial.timeLimit,
        ...(request.network === undefined ? {} : { network: request.network }),
        ...(request.user === undefined ? {} : { user: request.user })
      })
    )
  )

type Source = Pick<DockerEnvironmentOptions, "source" | "mounts" | "stack" | "onProgress">

const sourceOf = Effect.fnUntraced(function* (
  { source }: ContainerRequest,
  { command, needsNode, onProgress, stack }: ContainerTrial
) {
  if (source._tag !== "ThisMachine") return { source, stack, onProgress } satisfies Source
  const { facts } = yield* ContainerEngine
  if (!facts.local || facts.operatingSystem !== process.platform) {
    const detail = `this machine's programs cannot be shown to a container of the engine at ${facts.address}`
    const instead = "give an image with bash and a Node: --image REF"
    return yield* new CommandError({ command, reason: new UsageInvalid({ detail, instead }) })
  }
  // A temporary directory that cannot be made, or a system directory that cannot be read.
  const { directory, mounts } = yield* Effect.orDie(thisMachine)
  // The stack is put beside the mounted Node: it is small, which this Node is not.
  const node = needsNode ? [nodeBeside(process.execPath)] : []
  return { source: { _tag: "Dockerfile", directory }, mounts: [...mounts, ...node] } satisfies Source
})

/** How servers on this machine are reached from the container. */
const wayFrom = Effect.fnUntraced(function* (command: string) {
  const { bridge, facts } = yield* EnvironmentService
  const engine = yield* ContainerEngine
  if (bridge !== undefined) return { _tag: "Bridge" } satisfies Way
  const network = facts.container?.applied.network ?? "none"
  if (network === "host" && engine.facts.local) return { _tag: "SameNetwork" } satisfies Way
  const gateway = yield* Effect.mapError(
    hostGateway(network),
    ({ message }) => new CommandError({ command, reason: new EngineUnavailable({ detail: message }) })
  )
  return gateway === undefined ? ({ _tag: "None" } satisfies Way) : throughGateway(gateway, facts.created)
})

/** A container that others made knows the gateway by its address only. */
const throughGateway = ({ address, name }: HostGateway, created: boolean): Way => {
  const isHere = isOwnAddress(address)
  return { _tag: "Gateway", name: created || !isHere ? name : address, address: isHere ? address : "127.0.0.1" }
}
