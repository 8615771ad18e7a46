/** The local sandbox: the contract of every environment, with both backends and with busybox's programs. */
import { environmentSuite } from "./suites/EnvironmentSuite.ts"
import { busyboxEnvironment, isInstalled } from "./support/sandbox.ts"
import * as LocalEnvironment from "@buzz-orchestra/runtime/LocalEnvironment"
import { describe } from "@effect/vitest"

/** Only root can become another. */
const AS_ANOTHER = process.getuid?.() === 0 ? { otherUser: "nobody" } : {}

for (const backend of ["bwrap", "unshare"] as const) {
  describe.skipIf(!isInstalled(backend))("LocalEnvironment", () => {
    environmentSuite(`over ${backend}`, LocalEnvironment.layer({ backend }), AS_ANOTHER)
  })
}

describe.skipIf(!isInstalled("busybox"))("LocalEnvironment", () => {
  environmentSuite("with busybox's programs", busyboxEnvironment)
})
