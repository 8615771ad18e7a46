/** The local sandbox: the contract of every environment, with both backends and with busybox's programs. */
import { environmentSuite } from "./suites/EnvironmentSuite.ts"
import { busyboxEnvironment, isInstalled } from "./support/sandbox.ts"
import * as LocalEnvironment from "@buzz-orchestra/runtime/LocalEnvironment"
import { describe, it } from "@effect/vitest"

const skipped = (name: string, program: string) =>
  describe.skip(name, () => it(`${program} is not installed`, () => undefined))

for (const backend of ["bwrap", "unshare"] as const) {
  const name = `LocalEnvironment over ${backend}`
  if (!isInstalled(backend)) skipped(name, backend)
  else environmentSuite(name, LocalEnvironment.layer({ backend }), { otherUser: "nobody" })
}

const withBusybox = "LocalEnvironment with busybox's programs"
if (!isInstalled("busybox")) skipped(withBusybox, "busybox")
else environmentSuite(withBusybox, busyboxEnvironment)
