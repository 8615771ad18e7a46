import { Effect, Layer } from "effect"
import { RelayStore } from "../../src/server/RelayStore.ts"
import { layered, suite } from "../suites/RelayStoreSuite.ts"

suite(
  "RelayStore in memory",
  // The place is the layer, built once; who opens it gets the one that is there.
  Effect.map(Effect.orDie(layered(RelayStore.layerMemory)), (store) => layered(Layer.succeed(RelayStore, store))),
  50
)
