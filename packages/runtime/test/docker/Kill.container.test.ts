/** Harnesses that are killed at a random moment, before, while or after they make their container: once reaped, nothing is left. */
import { OWNER_LABEL, fromLabels } from "@buzz-orchestra/runtime/docker/OwnerLabels"
import { ContainerEngine } from "@buzz-orchestra/runtime/docker/ContainerEngine"
import { Reaper } from "@buzz-orchestra/runtime/docker/Reaper"
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer, Option, Random } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { count, timeout } from "../matrix/support/Cases.ts"
import { eventually } from "../support/shells.ts"
import { HARNESS } from "./support/container.ts"
import { containerTests } from "./support/containerTests.ts"
import { engineLayer, image } from "./support/engine.ts"

/** A harness has started Node, made its container and begun its work by then. */
const LATEST = Duration.seconds(4)

const CASES = count(5, 100)

containerTests("a harness that is killed", () => {
  layer(Reaper.layer.pipe(Layer.provideMerge(engineLayer)), { excludeTestServices: true })((it) => {
    it.effect(
      `leaves nothing once it was reaped, ${CASES} times`,
      () =>
        Effect.gen(function* () {
          const { listOwned } = yield* ContainerEngine
          const { reap } = yield* Reaper
          const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
          const reference = yield* image("busybox")
          const pids = new Set<number>()
          yield* Effect.forEach(
            Array.from({ length: CASES }),
            () =>
              Effect.scoped(
                Effect.gen(function* () {
                  const options = { extendEnv: true, stdout: "ignore", stderr: "ignore" } as const
                  const handle = yield* spawner.spawn(
                    ChildProcess.make(process.execPath, [HARNESS, reference], options)
                  )
                  pids.add(handle.pid)
                  yield* Effect.sleep(Duration.millis(yield* Random.nextIntBetween(200, Duration.toMillis(LATEST))))
                  yield* handle.kill({ killSignal: "SIGKILL" })
                })
              ),
            { concurrency: 5, discard: true }
          )
          const theirs = Effect.map(Effect.andThen(reap(), listOwned(OWNER_LABEL)), (objects) =>
            objects.filter(({ labels }) => {
              const owner = Option.getOrUndefined(fromLabels(labels))
              return owner !== undefined && pids.has(owner.pid)
            })
          )
          // The engine may still be making what it was asked for.
          const left = yield* eventually(theirs, (objects) => objects.length === 0, "5 seconds")
          assert.deepStrictEqual(left, [])
        }),
      timeout(60_000)
    )
  })
})
