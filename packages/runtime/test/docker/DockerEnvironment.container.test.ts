/** A container on the engine of this machine: the contract of every environment. Podman's test has the same with busybox. */
import { Layer } from "effect"
import { agentUsersSuite } from "../suites/AgentUsersSuite.ts"
import { environmentSuite } from "../suites/EnvironmentSuite.ts"
import { canMake } from "./images/TestImages.ts"
import { containerTests } from "./support/containerTests.ts"
import { engineLayer, environmentOf } from "./support/engine.ts"

containerTests("DockerEnvironment", () => {
  environmentSuite(
    "as an environment",
    environmentOf(canMake.bash ? "bash" : "busybox").pipe(Layer.provide(engineLayer)),
    { otherUser: "agent" }
  )
  agentUsersSuite("in a container", environmentOf(canMake.bash ? "bash" : "busybox").pipe(Layer.provide(engineLayer)), {
    named: true
  })
})
