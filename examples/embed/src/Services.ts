/**
 * The services of this program: one relay for all of its trials, and what each trial needs for itself.
 */
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import { EmbeddedRelay } from "@buzz-orchestra/relay/server/EmbeddedRelay"
import type { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import * as LocalEnvironment from "@buzz-orchestra/runtime/LocalEnvironment"
import { nodeBeside } from "@buzz-orchestra/runtime/SandboxPlan"
import * as TrialServices from "@buzz-orchestra/runtime/TrialServices"
import { Layer } from "effect"
import * as Platform from "./Platform.ts"

/** Built once: the platform, manifests, and a relay inside this process. */
export const layer = Layer.mergeAll(
  EmbeddedRelay.layer().pipe(Layer.provide(Platform.layerServer)),
  ManifestService.layer
).pipe(Layer.provideMerge(Platform.layer))

/** Built for each trial: `Trial` and its events in an environment of their own, which `provideMerge` leaves visible. */
export const layerTrialIn = <E, R>(environment: Layer.Layer<EnvironmentService, E, R>) =>
  TrialServices.layer.pipe(Layer.provideMerge(environment))

/** The programs of the reference stack are scripts: this process's own Node is put beside them. */
const mounts = [nodeBeside(process.execPath)]

/** In a sandbox in memory, gone with the layer. */
export const layerTrial = layerTrialIn(LocalEnvironment.layer({ mounts }))

/** In a sandbox whose work directory, logs and tests are folders of `directory`, and stay. */
export const layerTrialKept = (directory: string) => layerTrialIn(LocalEnvironment.layer({ mounts, keep: directory }))
