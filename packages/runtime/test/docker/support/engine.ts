/**
 * The engine of the container tests, or why there is none.
 */
import { NodeServices } from "@effect/platform-node"
import { ContainerEngine } from "@buzz-orchestra/runtime/docker/ContainerEngine"
import * as ContainerEngineApi from "@buzz-orchestra/runtime/docker/ContainerEngineApi"
import * as DockerEnvironment from "@buzz-orchestra/runtime/docker/DockerEnvironment"
import type { DockerEnvironmentOptions } from "@buzz-orchestra/runtime/docker/DockerEnvironmentOptions"
import { engineAddress } from "@buzz-orchestra/runtime/docker/EngineAddress"
import type { EngineEndpoint } from "@buzz-orchestra/runtime/docker/EngineEndpoint"
import type { EngineFlavor } from "@buzz-orchestra/runtime/docker/EngineFlavor"
import { HostProcess } from "@buzz-orchestra/runtime/docker/HostProcess"
import Docker from "dockerode"
import { randomUUID } from "node:crypto"
import { Effect, Layer, Result } from "effect"
import { canMake, loadImage, type TestImage } from "../images/TestImages.ts"

/** An engine that answers, or a sentence that says why not. */
export type TestEngine =
  | { readonly endpoint: EngineEndpoint & { readonly _tag: "Unix" }; readonly flavor: EngineFlavor }
  | { readonly reason: string }

/** Asks once, when the tests are collected. */
const look = Effect.gen(function* () {
  if (!canMake.busybox) return { reason: "busybox-static is not installed, which the test images are made from" }
  const endpoint = yield* engineAddress
  if (endpoint._tag !== "Unix") return { reason: "the engine is not on this machine" }
  const answer = yield* Effect.result(Effect.provide(ContainerEngine, ContainerEngineApi.layer(endpoint)))
  return Result.isFailure(answer)
    ? { reason: answer.failure.message }
    : { endpoint, flavor: answer.success.facts.flavor }
}).pipe(
  Effect.catch((error) => Effect.succeed({ reason: error.message })),
  Effect.provide(NodeServices.layer)
)

export const testEngine: TestEngine = await Effect.runPromise(look)

/** The run of everything that these tests make: another worker's tests are another run. */
export const RUN = `test-run-${randomUUID()}`

/** Which engine it is; without one it does not matter. */
export const flavor: EngineFlavor = "flavor" in testEngine ? testEngine.flavor : "docker"

/** To the engine itself, for what a test does behind the back of what it tests. */
export const docker = clientOf("endpoint" in testEngine ? testEngine.endpoint.path : "/nowhere")

/** A client of the engine at a socket, whatever DOCKER_HOST says. */
export function clientOf(socketPath: string): Docker {
  return new Docker({ host: undefined as unknown as string, socketPath })
}

/** The engine as the package sees it, and this process. */
export const engineLayer = Layer.mergeAll(
  ContainerEngineApi.layer("endpoint" in testEngine ? testEngine.endpoint : { _tag: "Unix", path: "/nowhere" }),
  HostProcess.layer
).pipe(Layer.provideMerge(NodeServices.layer))

/** The image's name in an engine; by default, the one that all tests share. */
export const image = (name: TestImage, engine: Docker = docker): Effect.Effect<string> =>
  Effect.promise(() => loadImage(engine, name))

/** An environment in a new container of a test image. */
export const environmentOf = (
  name: TestImage,
  options: Partial<DockerEnvironmentOptions> = {},
  engine: Docker = docker
) =>
  Layer.unwrap(
    Effect.map(image(name, engine), (reference) =>
      DockerEnvironment.layer({
        source: { _tag: "Image", reference },
        runId: RUN,
        trialId: "test-trial",
        network: "none",
        ...options
      })
    )
  )
