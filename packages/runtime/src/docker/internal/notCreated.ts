/**
 * Why an environment could not be had, as its error.
 */
import type { PlatformError } from "effect"
import { EnvironmentError, EnvironmentNotCreated } from "../../EnvironmentError.ts"
import type { EngineError } from "../EngineError.ts"

/** What every error of making an environment says it was about. */
export const OPERATION = "DockerEnvironment.layer"

/** In words, with what the engine or the platform said as the cause. */
export const notCreatedAs = (environment: string, detail: string, cause?: unknown): EnvironmentError =>
  new EnvironmentError({
    operation: OPERATION,
    reason: new EnvironmentNotCreated({ environment, detail, ...(cause === undefined ? {} : { cause }) })
  })

/** In the words of what failed. */
export const notCreated =
  (environment: string) =>
  (cause: EngineError | PlatformError.PlatformError): EnvironmentError =>
    notCreatedAs(environment, cause.message, cause)
