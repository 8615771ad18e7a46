/**
 * Groups of tests that need the engine of this machine.
 */
import { RUN_LABEL } from "@buzz-orchestra/runtime/docker/OwnerLabels"
import { assert, describe } from "@effect/vitest"
import { afterAll } from "vitest"
import { docker, RUN, testEngine } from "./engine.ts"

/** Without an engine they are skipped and say why. Whatever they made must be gone in the end. */
export const containerTests = (name: string, tests: () => void): void => {
  const skipped = "reason" in testEngine ? ` (skipped: ${testEngine.reason})` : ""
  describe.skipIf(skipped !== "")(`${name}${skipped}`, () => {
    // The first to be registered is the last to run.
    afterAll(async () => {
      const left = await docker.listContainers({ all: true, filters: { label: [`${RUN_LABEL}=${RUN}`] } })
      assert.deepStrictEqual(
        left.map(({ Names, Status }) => [Names[0], Status]),
        []
      )
    })
    tests()
  })
}
