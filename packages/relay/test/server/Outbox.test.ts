import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as Outbox from "../../src/server/Outbox.ts"

describe("Outbox", () => {
  it.effect("hands out everything in order and takes no more than its capacity", () =>
    Effect.gen(function* () {
      const outbox = yield* Outbox.make
      const taken = Array.from({ length: Outbox.CAPACITY + 1 }, (_, i) => outbox.push([`${i}a`, `${i}b`]))
      assert.strictEqual(taken.indexOf(false), Outbox.CAPACITY)
      const frames = yield* outbox.take
      assert.deepStrictEqual(frames, Array.from({ length: Outbox.CAPACITY }, (_, i) => [`${i}a`, `${i}b`]).flat())
    })
  )

  it.effect("makes a writer wait while it is more than half full", () =>
    Effect.gen(function* () {
      const outbox = yield* Outbox.make
      for (let i = 0; i < Outbox.CAPACITY / 2; i++) outbox.push(["x"])
      yield* outbox.hasRoom
      outbox.push(["x"])
      const waiting = yield* Effect.forkChild(outbox.hasRoom, { startImmediately: true })
      assert.isUndefined(waiting.pollUnsafe())
      yield* outbox.take
      yield* Fiber.join(waiting)
    })
  )
})
