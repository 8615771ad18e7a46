/** Containers that go away under a trial: every call says so, with what the engine knows of it. */
import { assert, layer } from "@effect/vitest"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { Effect, Fiber, Stream } from "effect"
import { output } from "../support/environment.ts"
import { running } from "./support/container.ts"
import { containerTests } from "./support/containerTests.ts"
import { docker, engineLayer, environmentOf, image } from "./support/engine.ts"

const containerId = EnvironmentService.useSync(({ facts }) => facts.container?.id ?? "")

/** A command that would run long, a watch, and then \`act\`: both must end with the loss, and so must the next command. */
const lose = Effect.fnUntraced(function* (
  act: (container: ReturnType<typeof docker.getContainer>) => Promise<unknown>
) {
  const environment = yield* EnvironmentService
  const events = yield* environment.watch("/logs")
  const watching = yield* Effect.forkChild(Effect.flip(Stream.runDrain(events)))
  const waiting = yield* Effect.forkChild(
    Effect.flip(environment.exec("echo ran >/logs/ran; sleep 1000", { timeLimit: "1 hour" }))
  )
  yield* output("until [ -e /logs/ran ]; do sleep 0.01; done")
  const id = yield* containerId
  yield* Effect.promise(() => act(docker.getContainer(id)))
  const errors = [
    yield* Effect.timeout(Fiber.join(waiting), "5 seconds"),
    yield* Effect.timeout(Fiber.join(watching), "5 seconds"),
    yield* Effect.timeout(Effect.flip(environment.exec("true")), "5 seconds")
  ]
  for (const { reason } of errors) assert.strictEqual(reason._tag, "EnvironmentLost")
  return errors[0]?.message ?? ""
})

containerTests("a container that is lost", () => {
  layer(engineLayer, { excludeTestServices: true })((it) => {
    it.effect("was removed", () =>
      Effect.gen(function* () {
        assert.match(yield* lose((container) => container.remove({ force: true })), /was (removed|killed from outside)/)
      }).pipe(Effect.scoped, Effect.provide(environmentOf("busybox")))
    )

    it.effect("was stopped", () =>
      Effect.gen(function* () {
        assert.match(
          yield* lose((container) => container.stop({ t: 5 })),
          /is gone: the container stopped \(exit code 0\)/
        )
      }).pipe(Effect.scoped, Effect.provide(environmentOf("busybox")))
    )

    it.effect("was killed", () =>
      Effect.gen(function* () {
        assert.match(yield* lose((container) => container.kill()), /was killed from outside \(exit code 137\)/)
      }).pipe(Effect.scoped, Effect.provide(environmentOf("busybox")))
    )

    it.effect("was paused, and is refused while it is", () =>
      Effect.gen(function* () {
        const id = yield* running({ Image: yield* image("busybox") })
        const source = { _tag: "Container", id } as const
        const environment = environmentOf("busybox", { source })
        const message = yield* lose((container) => container.pause()).pipe(Effect.scoped, Effect.provide(environment))
        assert.match(message, /the container is paused; nothing in it runs/)
        const refused = yield* Effect.flip(Effect.provide(containerId, environmentOf("busybox", { source })))
        assert.match(refused.message, /could not be created: it is paused/)
        yield* Effect.promise(() => docker.getContainer(id).unpause())
      })
    )

    it.effect("ran out of memory", () =>
      Effect.gen(function* () {
        // PID 1 itself takes all there is once it is told to; our own cannot be reached by that.
        const id = yield* running({
          Image: yield* image("busybox"),
          Cmd: ["sh", "-c", "until [ -e /eat ]; do sleep 0.01; done; exec tail /dev/zero"],
          HostConfig: { Memory: 24 * 1024 * 1024, MemorySwap: 24 * 1024 * 1024 }
        })
        const error = yield* Effect.gen(function* () {
          const environment = yield* EnvironmentService
          yield* output(": >/eat")
          return yield* Effect.flip(environment.exec("sleep 1000"))
        }).pipe(Effect.provide(environmentOf("busybox", { source: { _tag: "Container", id } })))
        assert.strictEqual(error.reason._tag, "EnvironmentLost")
        assert.match(error.message, /it used up its memory limit of 24 MiB \(exit code 137\)/)
      })
    )

    it.effect("survives what a process in it lost its memory to", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const eaten = yield* environment.exec("tail /dev/zero")
        assert.strictEqual(eaten.exitCode, 137)
        assert.strictEqual(yield* output("echo on"), "on\n")
      }).pipe(Effect.provide(environmentOf("busybox", { limits: { memoryMb: 24 } })))
    )

    it.effect("has a full file system, and says how full", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const content = new Uint8Array(4 * 1024 * 1024)
        const error = yield* Effect.flip(environment.upload({ content }, "/small/below/file"))
        assert.strictEqual(error.reason._tag, "EnvironmentLost")
        assert.match(
          error.message,
          /no space is left in it: .*No space left on device; \/small has 1024 KiB, of which \d+ are free/
        )
      }).pipe(Effect.provide(environmentOf("busybox", { temporary: [{ target: "/small", sizeMb: 1 }] })))
    )

    it.effect("is not lost when an agent kills every process it can", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        yield* Effect.ignore(environment.exec("trap '' HUP INT TERM; kill -TERM -1; kill -KILL 1; kill -KILL -1"))
        assert.strictEqual(yield* output("echo on"), "on\n")
      }).pipe(Effect.provide(environmentOf("busybox")))
    )
  })
})
