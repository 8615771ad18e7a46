/**
 * The whole of a trial's services in each of the environments that can be asked for.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeWS from "@effect/platform-node/NodeWS"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import * as LocalEnvironment from "@buzz-orchestra/runtime/LocalEnvironment"
import { nodeBeside } from "@buzz-orchestra/runtime/SandboxPlan"
import * as TrialServices from "@buzz-orchestra/runtime/TrialServices"
import { Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import type { ContainerTrial } from "./ContainerEnvironment.ts"
import type { EnvironmentRequest } from "./EnvironmentRequest.ts"
import { HostAccess } from "./HostAccess.ts"

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
export const trialLayer = (request: EnvironmentRequest, trial: ContainerTrial) =>
  TrialServices.layer.pipe(
    Layer.provideMerge(environmentLayer(request, trial)),
    Layer.provide(
      Layer.mergeAll(
        FetchHttpClient.layer,
        NodeWS.layerWebSocketConstructor,
        NodeCrypto.layerSecureRandom,
        SchnorrWasm.layer
      )
    )
  )
