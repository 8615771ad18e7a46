/** Takes down a trial that is remembered here and whose command is gone. */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import { TrialHandleStore } from "@buzz-orchestra/relay/TrialHandleStore"
import { TrialProvisioner } from "@buzz-orchestra/relay/TrialProvisioner"
import * as TrialProvisionerLive from "@buzz-orchestra/relay/TrialProvisionerLive"
import { Effect, Layer } from "effect"
import * as RelayServices from "../RelayServices.ts"
import * as RelayTransport from "../RelayTransport.ts"
import * as SavedTrials from "../SavedTrials.ts"
import type { Saved } from "./RelayPlace.ts"

/** Why it could not be, or nothing. */
export const takeDown = (saved: Saved, note: SavedTrials.SavedNote) => {
  const services = TrialProvisionerLive.layer.pipe(
    Layer.provide(RelayServices.client(note.relay)),
    Layer.provide(RelayTransport.layer("reap", saved.relayUrl, note.relay)),
    Layer.provideMerge(SavedTrials.layer(note)),
    Layer.provide([NodeCrypto.layerSecureRandom, SchnorrWasm.layer])
  )
  return Effect.gen(function* () {
    const handle = yield* TrialHandleStore.use((store) => store.get(saved))
    if (handle === undefined) return undefined
    const steps = yield* TrialProvisioner.use((provisioner) => provisioner.teardown(handle))
    return steps.find(({ error }) => error !== undefined)?.error
  }).pipe(
    Effect.provide(services),
    Effect.catch((error) => Effect.succeed(error.message))
  )
}
