/** Containers: the contract of every environment, in images with bash and with busybox. */
import { describe } from "@effect/vitest"
import { Layer } from "effect"
import { environmentSuite } from "../suites/EnvironmentSuite.ts"
import { engineLayer, environmentOf, hasEngine, skipped } from "./support/engine.ts"
import { canMake } from "./images/TestImages.ts"

describe.skipIf(!hasEngine)(`DockerEnvironment${skipped}`, () => {
  environmentSuite("with busybox's programs", environmentOf("busybox").pipe(Layer.provide(engineLayer)), {
    otherUser: "agent"
  })
})

describe.skipIf(!hasEngine || !canMake.bash)(`DockerEnvironment${skipped}`, () => {
  environmentSuite("in a Debian without extras", environmentOf("bash").pipe(Layer.provide(engineLayer)), {
    otherUser: "agent"
  })
})
