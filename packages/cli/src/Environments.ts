/**
 * The whole of a trial's services in each of the environments that can be asked for.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import { HostProcess } from "@buzz-orchestra/runtime/docker/HostProcess"
import * as LocalEnvironment from "@buzz-orchestra/runtime/LocalEnvironment"
import { LocalReaper } from "@buzz-orchestra/runtime/LocalReaper"
import * as PlainEnvironment from "@buzz-orchestra/runtime/PlainEnvironment"
import { nodeBeside } from "@buzz-orchestra/runtime/SandboxPlan"
import * as TrialServices from "@buzz-orchestra/runtime/TrialServices"
import { Effect, Layer } from "effect"
import type { ContainerTrial } from "./ContainerEnvironment.ts"
import type { EnvironmentRequest } from "./EnvironmentRequest.ts"
import { HostAccess } from "./HostAccess.ts"
import type { RelayOptions } from "./RelayOptions.ts"
import * as RelayServices from "./RelayServices.ts"
import * as RelayTransport from "./RelayTransport.ts"

const localLayer = ({ needsNode, runId, trialId }: ContainerTrial) =>
  LocalEnvironment.layer({
    mounts: needsNode ? [nodeBeside(process.execPath)] : [],
    owner: { runId, trialId }
  }).pipe(Layer.merge(Layer.succeed(HostAccess, { _tag: "SameNetwork" })))

/** What a killed harness left runs on, without a sandbox around it: somebody has to end it. */
const plainLayer = ({ needsNode, runId, trialId }: ContainerTrial) =>
  PlainEnvironment.layer({
    programs: needsNode ? { node: process.execPath } : {},
    env: process.env["PATH"] === undefined ? {} : { PATH: process.env["PATH"] },
    owner: { runId, trialId }
  }).pipe(
    Layer.merge(Layer.succeed(HostAccess, { _tag: "SameNetwork" })),
    Layer.merge(LocalReaper.layerAtStart.pipe(Layer.provide(LocalReaper.layer), Layer.provide(HostProcess.layer)))
  )

const environmentLayer = (request: EnvironmentRequest, trial: ContainerTrial) =>
  Layer.unwrap(
    request._tag === "Container"
      ? Effect.map(
          Effect.promise(() => import("./ContainerEnvironment.ts")),
          ({ layer }) => layer(request, trial)
        )
      : Effect.succeed(request._tag === "Local" ? localLayer(trial) : plainLayer(trial))
  )

/**
 * Everything a trial runs on, and its environment, which is created when the layer is built and ended with its scope.
 */
export const trialLayer = (request: EnvironmentRequest, trial: ContainerTrial, relay: RelayReached) => {
  const saved = relay.url === undefined ? undefined : relay.options
  return TrialServices.layerOver({
    client: RelayServices.client(relay.options),
    handles: RelayServices.handles(saved, { ...trial, keepsChannel: relay.keepsChannel, directory: relay.directory })
  }).pipe(
    Layer.provideMerge(environmentLayer(request, trial)),
    Layer.provideMerge(RelayTransport.layer(trial.command, relay.url, relay.options)),
    Layer.provide(Layer.merge(NodeCrypto.layerSecureRandom, SchnorrWasm.layer))
  )
}

/** The relay of the trial, as this machine speaks with it. */
export interface RelayReached {
  /** Absent for one inside this command. */
  readonly url: string | undefined
  readonly options: RelayOptions
  readonly keepsChannel: boolean
  /** The trial directory. */
  readonly directory: string
}
