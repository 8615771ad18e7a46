/**
 * Everything that `doctor` looks at, at once. Loaded only by it: it brings sandboxes, engines and relays.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import { Effect, Layer } from "effect"
import type { RelayOptions } from "../RelayOptions.ts"
import * as RelayTransport from "../RelayTransport.ts"
import { checkDisk } from "./DiskCheck.ts"
import { checkEngine } from "./EngineCheck.ts"
import { checkNode } from "./NodeCheck.ts"
import { checkPlain } from "./PlainCheck.ts"
import { checkRelay } from "./RelayCheck.ts"
import { checkSandbox } from "./SandboxCheck.ts"
import { checkStack } from "./StackCheck.ts"

/** `relay` is the URL of one that is to be looked at, `options` how it is dialled. The findings are in the order in which a person should read them. */
export const examine = Effect.fn("Examination.examine")(function* (
  relay: string | undefined,
  options: RelayOptions = {}
) {
  const found = yield* Effect.all(
    [
      Effect.succeed([checkNode(process.versions.node)]),
      Effect.map(checkSandbox, (finding) => [finding]),
      Effect.map(checkPlain, (finding) => [finding]),
      checkEngine,
      Effect.map(checkStack(process.execPath), (finding) => [finding]),
      relay === undefined ? Effect.succeed([]) : Effect.provide(checkRelay(relay), relayServices(relay, options)),
      checkDisk
    ],
    { concurrency: "unbounded" }
  )
  return found.flat()
})

const relayServices = (relay: string, options: RelayOptions) =>
  Layer.mergeAll(RelayTransport.layer("doctor", relay, options), NodeCrypto.layerSecureRandom, SchnorrWasm.layer)
