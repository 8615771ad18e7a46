/**
 * The whole of a trial's services in each of the environments that `--environment` names.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeWS from "@effect/platform-node/NodeWS"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import * as LocalEnvironment from "@buzz-orchestra/runtime/LocalEnvironment"
import { nodeBeside } from "@buzz-orchestra/runtime/SandboxPlan"
import * as TrialServices from "@buzz-orchestra/runtime/TrialServices"
import { Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import type { EnvironmentName } from "./EnvironmentName.ts"

/** What the stack asks of an environment. */
export interface EnvironmentNeeds {
  /** The programs are scripts: this process's own Node is put beside them. */
  readonly needsNode: boolean
}

const environmentLayer = (name: EnvironmentName, { needsNode }: EnvironmentNeeds) => {
  switch (name) {
    case "local":
      return LocalEnvironment.layer({ mounts: needsNode ? [nodeBeside(process.execPath)] : [] })
  }
}

/** Everything a trial runs on. The environment is created when the layer is built and ended with its scope. */
export const trialLayer = (name: EnvironmentName, needs: EnvironmentNeeds) =>
  TrialServices.layer.pipe(
    Layer.provide(environmentLayer(name, needs)),
    Layer.provide(
      Layer.mergeAll(
        FetchHttpClient.layer,
        NodeWS.layerWebSocketConstructor,
        NodeCrypto.layerSecureRandom,
        SchnorrWasm.layer
      )
    )
  )
