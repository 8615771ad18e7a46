/**
 * The services of a trial, composed: `layer` for trials on a relay, `layerRuntime` for programs that bring their own way to
 * speak with one (and for tests).
 */
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import type { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import * as BuzzClientNative from "@buzz-orchestra/relay/BuzzClientNative"
import * as RelayObserverLive from "@buzz-orchestra/relay/RelayObserverLive"
import { TrialHandleStore } from "@buzz-orchestra/relay/TrialHandleStore"
import * as TrialProvisionerLive from "@buzz-orchestra/relay/TrialProvisionerLive"
import { Layer } from "effect"
import * as AgentSupervisorLive from "./AgentSupervisorLive.ts"
import * as StackInstallerLive from "./StackInstallerLive.ts"
import { TrialEvents } from "./TrialEvents.ts"
import * as TrialLive from "./TrialLive.ts"
import * as TrialRuntimeLive from "./TrialRuntimeLive.ts"

/**
 * `Trial` and its events. Needs an `EnvironmentService`, the relay's `BuzzClient`, `RelayObserver` and `TrialProvisioner`, a
 * `ManifestService`, `FileSystem` and `Path`. The scope of the layer owns the stream of events; trials own everything else.
 */
export const layerRuntime = TrialLive.layer.pipe(
  Layer.provide(TrialRuntimeLive.layer),
  Layer.provide([AgentSupervisorLive.layer, StackInstallerLive.layer]),
  Layer.provideMerge(TrialEvents.layer)
)

/** How a trial speaks with its relay, and where it remembers what it made there. */
export interface RelayAccess<ClientError, ClientNeeds, StoreError, StoreNeeds> {
  readonly client: Layer.Layer<BuzzClient, ClientError, ClientNeeds>
  readonly handles: Layer.Layer<TrialHandleStore, StoreError, StoreNeeds>
}

/**
 * `Trial`, its events, and the `ManifestService` that reads what a trial is given. Everything a trial runs on but the environment
 * and the platform: needs an `EnvironmentService`, `FileSystem`, `Path`, an `HttpClient`, a `WebSocketConstructor`, `SecureRandom`
 * and `Schnorr`, and whatever the access to the relay needs.
 */
export const layerOver = <CE, CR, SE, SR>({ client, handles }: RelayAccess<CE, CR, SE, SR>) =>
  layerRuntime.pipe(
    Layer.provide(
      Layer.mergeAll(TrialProvisionerLive.layer, RelayObserverLive.layer).pipe(
        Layer.provideMerge(client),
        Layer.provide(handles)
      )
    ),
    Layer.provideMerge(ManifestService.layer)
  )

/** Over HTTP and WebSocket; handles live as long as the layer. */
export const layer = layerOver({ client: BuzzClientNative.layer, handles: TrialHandleStore.layerMemory })
