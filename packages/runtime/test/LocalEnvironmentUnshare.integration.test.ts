// @module-tag thorough
/** The contract of every environment, for the local sandbox that `unshare` builds. */
import * as LocalEnvironment from "@buzz-orchestra/runtime/LocalEnvironment"
import { describe } from "@effect/vitest"
import { QUICK } from "./matrix/support/Cases.ts"
import { environmentSuite } from "./suites/EnvironmentSuite.ts"
import { ANOTHER_USER, isInstalled } from "./support/sandbox.ts"

describe.skipIf(!isInstalled("unshare"))("LocalEnvironment", () => {
  environmentSuite("over unshare", LocalEnvironment.layer({ backend: "unshare" }), {
    ...ANOTHER_USER,
    isBrief: QUICK
  })
})
