import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as OwnedDirectory from "@buzz-orchestra/runtime/OwnedDirectory"
import { Effect, Fiber, FileSystem, Layer, Logger, PlatformError } from "effect"
import { TestClock } from "effect/testing"
import { existsSync, rmSync } from "node:fs"

/** A disk on which a directory cannot be removed the first `times` times. */
const busy = (times: number) =>
  Layer.effect(
    FileSystem.FileSystem,
    FileSystem.FileSystem.useSync((inner) => ({
      ...inner,
      remove: (path, options) =>
        Effect.suspend(() =>
          times-- > 0
            ? Effect.fail(
                PlatformError.systemError({
                  _tag: "Unknown",
                  module: "FileSystem",
                  method: "remove",
                  pathOrDescriptor: path,
                  description: "directory not empty"
                })
              )
            : inner.remove(path, options)
        )
    }))
  ).pipe(Layer.provideMerge(NodeServices.layer))

/** Makes one and gives it back, and says which it was and what was logged. */
const used = (times: number) =>
  Effect.gen(function* () {
    const logged: Array<unknown> = []
    const logger = Logger.make(({ message }) => void logged.push(message))
    const fiber = yield* Effect.forkChild(
      Effect.scoped(OwnedDirectory.make).pipe(Effect.provide([busy(times), Logger.layer([logger])]))
    )
    while (fiber.pollUnsafe() === undefined) {
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      yield* TestClock.adjust("50 millis")
    }
    return { path: yield* Fiber.join(fiber), logged: logged.join("\n") }
  })

describe("OwnedDirectory", () => {
  it.effect("is removed as soon as nobody writes there any more", () =>
    Effect.gen(function* () {
      const { logged, path } = yield* used(3)
      assert.isFalse(existsSync(path))
      assert.strictEqual(logged, "")
    })
  )

  it.effect("that cannot be removed is told, and fails nothing", () =>
    Effect.gen(function* () {
      const { logged, path } = yield* used(Number.POSITIVE_INFINITY)
      assert.isTrue(existsSync(path))
      assert.include(logged, path)
      assert.include(logged, "directory not empty")
      assert.include(logged, "buzz-orchestra reap")
      rmSync(path, { recursive: true })
    })
  )
})
