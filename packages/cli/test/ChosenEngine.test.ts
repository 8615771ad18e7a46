/** Which engine a command takes, and why it takes none. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, FileSystem, Layer } from "effect"
import * as ChosenEngine from "../src/ChosenEngine.ts"
import * as Failure from "../src/Failure.ts"

const refusal = (host: string) =>
  Layer.build(ChosenEngine.layer("run")).pipe(
    Effect.flip,
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ DOCKER_HOST: host })))
  )

describe("the container engine", () => {
  it.live("that does not answer is named, with what to do", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const socket = `${yield* fs.makeTempDirectoryScoped()}/sock`
      const error = yield* refusal(`unix://${socket}`)
      assert.strictEqual(error.reason._tag, "EngineUnavailable")
      const { exitCode, line, next } = Failure.fromError(error)
      assert.strictEqual(exitCode, 18)
      assert.include(line, `no container engine answers at unix://${socket}: `)
      assert.match(next, /^start Docker or Podman, or set DOCKER_HOST/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("whose address makes no sense is refused with where the address stands", () =>
    Effect.gen(function* () {
      const { line } = Failure.fromError(yield* refusal("carrier-pigeon://roof"))
      assert.include(line, "DOCKER_HOST")
      assert.include(line, "carrier-pigeon")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
