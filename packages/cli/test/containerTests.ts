/**
 * Groups of tests that need the container engine of this machine, and what a command leaves in it.
 */
import { describe } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { dirname, join } from "node:path"
import { OWNER_LABEL } from "@buzz-orchestra/runtime/docker/OwnerLabels"
import { docker, testEngine } from "../../runtime/test/docker/support/engine.ts"
import { bundlePath } from "./trialFiles.ts"

/** Skipped, and saying why, where no engine answers. */
export const containerTests = (name: string, tests: () => void): void => {
  const skipped = "reason" in testEngine ? ` (skipped: ${testEngine.reason})` : ""
  describe.skipIf(skipped !== "")(`${name}${skipped}`, () => {
    tests()
  })
}

/** A path for a bundle whose trial has an id that no other has; removed with the scope. */
export const ownBundle = Effect.map(bundlePath, (path) => join(dirname(path), `trial-${randomUUID()}`))

/** The trial label, which the engine's objects have. */
const labelOf = (out: string) => `${OWNER_LABEL.replace(/[^.]+$/, "")}trial=${out.split("/").at(-1)}`

/** Containers, networks and volumes of a trial, running or not. */
export const leftOf = (out: string): Effect.Effect<ReadonlyArray<string>> =>
  Effect.promise(async () => {
    const filters = { label: [labelOf(out)] }
    const containers = await docker.listContainers({ all: true, filters })
    const networks = await docker.listNetworks({ filters })
    const { Volumes } = await docker.listVolumes({ filters })
    return [
      ...containers.map(({ Names, State }) => `container ${Names[0]} (${State})`),
      ...networks.map(({ Name }) => `network ${Name}`),
      ...(Volumes ?? []).map(({ Name }) => `volume ${Name}`)
    ]
  })
