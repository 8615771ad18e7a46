/**
 * What all benches run on: an embedded relay that keeps its arrivals, the services of a user of it, and the platform.
 */
import { createServer } from "node:http"
import { Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { ManifestService } from "../packages/manifest/src/ManifestService.ts"
import * as BuzzClientNative from "../packages/relay/src/BuzzClientNative.ts"
import * as RelayObserverLive from "../packages/relay/src/RelayObserverLive.ts"
import * as SchnorrWasm from "../packages/relay/src/SchnorrWasm.ts"
import { EmbeddedRelay } from "../packages/relay/src/server/EmbeddedRelay.ts"
import { TrialHandleStore } from "../packages/relay/src/TrialHandleStore.ts"
import * as TrialProvisionerLive from "../packages/relay/src/TrialProvisionerLive.ts"
import * as Arrivals from "./Arrivals.ts"
import { NodeCrypto, NodeHttpServer, NodeServices, NodeWS } from "@effect/platform-node"

const platform = Layer.mergeAll(
  NodeServices.layer,
  FetchHttpClient.layer,
  NodeWS.layerWebSocketConstructor,
  NodeCrypto.layerSecureRandom,
  SchnorrWasm.layer
)

/** Connections are closed by then. */
const SHUTDOWN = "1 second"

/** The relay's verifier is its own. */
const relay = EmbeddedRelay.layer().pipe(
  Layer.provideMerge(Layer.effect(Arrivals.Arrivals, Arrivals.Arrivals)),
  Layer.provide(Arrivals.layer),
  Layer.provide(
    NodeHttpServer.layerServer(createServer, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: SHUTDOWN })
  ),
  Layer.provide(NodeCrypto.layerSecureRandom)
)

/** The scope of the layer owns the relay. */
export const layer = Layer.mergeAll(TrialProvisionerLive.layer, RelayObserverLive.layer, ManifestService.layer).pipe(
  Layer.provideMerge(BuzzClientNative.layer),
  Layer.provide(TrialHandleStore.layerMemory),
  Layer.provideMerge(relay),
  Layer.provideMerge(platform)
)

/** What the layer offers. */
export type Services = Layer.Success<typeof layer>

/** A bench as it is run: its report. */
export type Bench = Effect.Effect<string, unknown, Services>
