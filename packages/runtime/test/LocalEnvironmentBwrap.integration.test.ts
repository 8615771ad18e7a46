// @module-tag thorough
/** The contract of every environment, for the local sandbox that `bwrap` builds. */
import * as LocalEnvironment from "@buzz-orchestra/runtime/LocalEnvironment"
import { describe } from "@effect/vitest"
import { Layer } from "effect"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { agentUsersSuite } from "./suites/AgentUsersSuite.ts"
import { environmentSuite } from "./suites/EnvironmentSuite.ts"
import { ANOTHER_USER, isInstalled } from "./support/sandbox.ts"

describe.skipIf(!isInstalled("bwrap"))("LocalEnvironment", () => {
  environmentSuite("over bwrap", LocalEnvironment.layer({ backend: "bwrap" }), ANOTHER_USER)
  if (ANOTHER_USER.otherUser !== undefined)
    agentUsersSuite(
      "over bwrap",
      LocalEnvironment.layer({ backend: "bwrap" }).pipe(Layer.provide(NodeServices.layer)),
      {
        named: false
      }
    )
})
