/** The contract of every environment, for a local sandbox whose programs are busybox's, as in small images. */
import { describe } from "@effect/vitest"
import { environmentSuite } from "./suites/EnvironmentSuite.ts"
import { busyboxEnvironment, isInstalled } from "./support/sandbox.ts"

describe.skipIf(!isInstalled("busybox"))("LocalEnvironment", () => {
  environmentSuite("with busybox's programs", busyboxEnvironment)
})
