/**
 * Where the trials of a bench run: a new local sandbox or a new container for each, with this Node in it, and counted.
 */
import { execFileSync } from "node:child_process"
import { realpathSync } from "node:fs"
import { Effect, Layer } from "effect"
import { DEFAULT_LAYOUT } from "../packages/runtime/src/Layout.ts"
import { ContainerEngine } from "../packages/runtime/src/docker/ContainerEngine.ts"
import type { ContainerMount } from "../packages/runtime/src/docker/ContainerSpec.ts"
import * as DockerEnvironment from "../packages/runtime/src/docker/DockerEnvironment.ts"
import * as LocalEnvironment from "../packages/runtime/src/LocalEnvironment.ts"
import * as Probe from "./baseline/Probe.ts"
import * as Meter from "./Meter.ts"
import { stackFiles } from "./ReferenceStack.ts"

/** The kinds of environment that there are. */
export const ENVIRONMENTS = ["local", "docker"] as const
/** A kind of environment. */
export type EnvironmentKind = (typeof ENVIRONMENTS)[number]

/** Whose trial it is. The polling harness uploads its stack each time; ours is given a cache of its stack where it can be. */
export type Harness = "own" | "polling"

/** The environment of one trial. The scope of the layer owns it. */
export const place = (kind: EnvironmentKind, harness: Harness) => (kind === "local" ? local : container(harness))

const local = Probe.layerLocal.pipe(
  Layer.provideMerge(
    Meter.layer(
      LocalEnvironment.layer({
        mounts: [{ source: process.execPath, target: `${DEFAULT_LAYOUT.bin}/node`, readOnly: true }]
      })
    )
  )
)

/** This Node, and the libraries that it needs beside C's own. */
const nodeMounts = (): ReadonlyArray<ContainerMount> => {
  const linked = execFileSync("ldd", [process.execPath], { encoding: "utf8" })
  const libraries = [...linked.matchAll(/=> (\S+\/lib(?:atomic|stdc\+\+|gcc_s)\.so\S*)/g)].map(([, path = ""]) => path)
  return [
    { source: process.execPath, target: "/usr/local/bin/node", readOnly: true },
    ...libraries.map((path) => ({ source: realpathSync(path), target: path, readOnly: true }))
  ]
}

/** Without a network: the relay is put into it. Node is no part of the stack; it stands in for a program's own machine code. */
const container = (harness: Harness) =>
  Layer.unwrap(
    Effect.gen(function* () {
      // Only now: the module looks for an engine when it is loaded.
      const tests = yield* Effect.promise(() => import("../packages/runtime/test/docker/support/engine.ts"))
      if ("reason" in tests.testEngine) return yield* Effect.fail(new Error(tests.testEngine.reason))
      const environment = DockerEnvironment.layer({
        source: { _tag: "Image", reference: yield* tests.image("bash") },
        runId: "bench",
        trialId: harness,
        network: "none",
        mounts: nodeMounts(),
        ...(harness === "own" ? { stack: yield* stackFiles } : {})
      })
      return Probe.layerEngine.pipe(
        Layer.provideMerge(
          Meter.layer(
            environment,
            ContainerEngine.use(({ calls }) => calls)
          )
        ),
        Layer.provide(tests.engineLayer)
      )
    })
  )
