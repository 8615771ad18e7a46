/**
 * The services of this program: one relay for all of its trials, and what each trial needs for itself.
 */
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import { EmbeddedRelay } from "@buzz-orchestra/relay/server/EmbeddedRelay"
import { DEFAULT_LAYOUT } from "@buzz-orchestra/runtime/Layout"
import * as LocalEnvironment from "@buzz-orchestra/runtime/LocalEnvironment"
import * as TrialServices from "@buzz-orchestra/runtime/TrialServices"
import { Layer } from "effect"
import * as Platform from "./Platform.ts"

/** Built once: the platform, manifests, and a relay inside this process. */
export const layer = Layer.mergeAll(
  EmbeddedRelay.layer().pipe(Layer.provide(Platform.layerServer)),
  ManifestService.layer
).pipe(Layer.provideMerge(Platform.layer))

/**
 * Built for each trial: a sandbox, and `Trial` and its events in it. The programs of the reference stack are scripts, so this
 * process's own Node is put beside them.
 */
export const layerTrial = TrialServices.layer.pipe(
  Layer.provideMerge(
    LocalEnvironment.layer({
      mounts: [{ source: process.execPath, target: `${DEFAULT_LAYOUT.bin}/node`, readOnly: true }]
    })
  )
)
