import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { testTrialHandle } from "../src/testing/TestTrialHandle.ts"
import { TrialHandleStore } from "../src/TrialHandleStore.ts"

const handle = testTrialHandle()
const other = { runId: handle.runId, trialId: "other" }

describe("TrialHandleStore in memory", () => {
  layer(TrialHandleStore.layerMemory)((it) => {
    it.effect("gives back what was put, until it is removed", () =>
      Effect.gen(function* () {
        const store = yield* TrialHandleStore
        assert.isUndefined(yield* store.get(handle))
        yield* store.put(handle)
        assert.strictEqual(yield* store.get({ runId: handle.runId, trialId: handle.trialId }), handle)
        assert.isUndefined(yield* store.get(other))
        yield* store.remove(handle)
        yield* store.remove(handle)
        assert.isUndefined(yield* store.get(handle))
      })
    )

    it.effect("lets one at a time hold a key, and does not hold up other keys", () =>
      Effect.gen(function* () {
        const store = yield* TrialHandleStore
        const gate = yield* Deferred.make<void>()
        const log: Array<string> = []
        const note = (text: string) => Effect.sync(() => void log.push(text))
        const first = yield* Effect.forkChild(
          store.withLock(
            handle,
            Effect.andThen(note("first in"), Effect.andThen(Deferred.await(gate), note("first out")))
          ),
          { startImmediately: true }
        )
        const second = yield* Effect.forkChild(store.withLock(handle, note("second")), { startImmediately: true })
        yield* store.withLock(other, note("other"))
        assert.deepStrictEqual(log, ["first in", "other"])
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(first)
        yield* Fiber.join(second)
        assert.deepStrictEqual(log, ["first in", "other", "first out", "second"])
      })
    )

    it.effect("frees the lock when its holder fails or is interrupted", () =>
      Effect.gen(function* () {
        const store = yield* TrialHandleStore
        yield* Effect.flip(store.withLock(handle, Effect.fail("no")))
        const held = yield* Effect.forkChild(store.withLock(handle, Effect.never), { startImmediately: true })
        yield* Fiber.interrupt(held)
        assert.strictEqual(yield* store.withLock(handle, Effect.succeed("free")), "free")
      })
    )
  })
})
