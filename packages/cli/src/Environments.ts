/**
 * The whole of a trial's services in each of the environments that can be asked for.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import * as LocalEnvironment from "@buzz-orchestra/runtime/LocalEnvironment"
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

const environmentLayer = (request: EnvironmentRequest, trial: ContainerTrial) =>
  Layer.unwrap(
    request._tag === "Local"
      ? Effect.succeed(localLayer(trial))
      : Effect.map(
          Effect.promise(() => import("./ContainerEnvironment.ts")),
          ({ layer }) => layer(request, trial)
        )
  )

/**
 * Everything a trial runs on, and its environment, which is created when the layer is built and ended with its scope.
 */
export const trialLayer = (request: EnvironmentRequest, trial: ContainerTrial, relay: RelayReached) => {
  const saved = relay.url === undefined ? undefined : relay.options
  return TrialServices.layerOver({
    client: RelayServices.client(relay.options),
    handles: RelayServices.handles(saved, { ...trial, keepsChannel: relay.keepsChannel })
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
}
