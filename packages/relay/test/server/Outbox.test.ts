import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { CAPACITY, MAX_UNITS, Outbox } from "../../src/server/Outbox.ts"

describe("Outbox", () => {
  it("hands out everything in order, loses what it has no place for, and gives up on the third loss in a row", () => {
    const outbox = new Outbox()
    const entry = (i: number) => [`${i}a`, `${i}b`]
    const pushed = Array.from({ length: CAPACITY + 2 }, (_, i) => outbox.push(entry(i)))
    assert.strictEqual(pushed.indexOf("lost"), CAPACITY)
    assert.strictEqual(pushed.at(-1), "lost")
    assert.deepStrictEqual(outbox.take(), Array.from({ length: CAPACITY }, (_, i) => entry(i)).flat())
    for (let i = 0; i < CAPACITY; i++) assert.strictEqual(outbox.push(["x"]), "kept")
    assert.deepStrictEqual(
      [1, 2, 3].map(() => outbox.push(["x"])),
      ["lost", "lost", "given-up"]
    )
  })

  it("bounds what it holds by length, too, but takes one answer of any length", () => {
    const outbox = new Outbox()
    const long = "x".repeat(1_000_000)
    assert.strictEqual(outbox.push(Array.from({ length: 40 }, () => long)), "kept")
    assert.isAbove(40 * long.length, MAX_UNITS)
    assert.strictEqual(outbox.push(["x"]), "lost")
    assert.strictEqual(outbox.take().length, 40)
    assert.strictEqual(outbox.push(["x"]), "kept")
  })

  it.effect("makes a writer wait while it is more than half full", () =>
    Effect.gen(function* () {
      const outbox = new Outbox()
      for (let i = 0; i < CAPACITY / 2; i++) outbox.push(["x"])
      yield* outbox.hasRoom
      outbox.push(["x"])
      const waiting = yield* Effect.forkChild(outbox.hasRoom, { startImmediately: true })
      assert.isUndefined(waiting.pollUnsafe())
      outbox.take()
      yield* Fiber.join(waiting)
    })
  )
})
