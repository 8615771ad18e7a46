/**
 * The contract of an environment, for every backend: what a stack may rely on, whatever it runs in.
 */
import { NodeServices } from "@effect/platform-node"
import type { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { layer } from "@effect/vitest"
import { Layer } from "effect"
import type { EnvironmentSuiteOptions } from "../support/environment.ts"
import { execSuite } from "./ExecSuite.ts"
import { sweepSuite } from "./SweepSuite.ts"
import { transferContract } from "./TransferContract.ts"
import { transferSuite } from "./TransferSuite.ts"
import { floodSuite, watchSuite } from "./WatchSuite.ts"

type Services = Layer.Success<typeof NodeServices.layer>

/** One environment is made for all of it and closed at the end. */
export const environmentSuite = (
  name: string,
  environment: Layer.Layer<EnvironmentService, unknown, Services>,
  options: EnvironmentSuiteOptions = {}
): void =>
  layer(environment.pipe(Layer.provideMerge(NodeServices.layer)), { excludeTestServices: true, timeout: "60 seconds" })(
    name,
    (it) => {
      execSuite(it, options)
      transferContract(it, `${options.temporary ?? "/tmp"}/transfer contract`)
      watchSuite(it)
      sweepSuite(it)
      if (options.isBrief === true) return
      transferSuite(it, options)
      floodSuite(it)
    }
  )
