// @module-tag thorough
/**
 * The contract of every environment, for a local sandbox whose programs are busybox's, as in small images. In a soak: where an
 * engine answers, `npm test` holds a container of busybox to the same contract.
 */
import { describe } from "@effect/vitest"
import { SOAKING } from "./matrix/support/Cases.ts"
import { environmentSuite } from "./suites/EnvironmentSuite.ts"
import { busyboxEnvironment, isInstalled } from "./support/sandbox.ts"

describe.skipIf(!SOAKING || !isInstalled("busybox"))("LocalEnvironment", () => {
  environmentSuite("with busybox's programs", busyboxEnvironment)
})
