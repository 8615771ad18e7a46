import { TrialEvents } from "@buzz-orchestra/runtime/TrialEvents"
import * as TrialRecord from "@buzz-orchestra/runtime/TrialRecord"
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Option, Ref, Stream } from "effect"
import { TestClock } from "effect/testing"

const NAMES = { runId: "run", trialId: "trial" }

const told = Effect.gen(function* () {
  const events = yield* TrialEvents
  const marker = `end ${yield* Effect.clockWith((clock) => clock.currentTimeMillis)}`
  yield* events.publish({ ...NAMES, _tag: "Warned", detail: marker })
  return yield* Stream.runCollect(
    Stream.takeUntil(events.stream, (event) => event._tag === "Warned" && event.detail === marker)
  )
})

layer(TrialEvents.layer)("TrialRecord", (it) => {
  it.effect("measures a phase and tells its beginning and its end", () =>
    Effect.gen(function* () {
      const record = yield* TrialRecord.make(NAMES)
      const running = yield* Effect.forkScoped(record.phase("install", Effect.as(Effect.sleep("1500 millis"), "value")))
      yield* TestClock.adjust("1500 millis")
      assert.strictEqual(yield* Fiber.join(running), "value")
      assert.deepStrictEqual((yield* record.facts).phases, [
        { phase: "install", started_at: "1970-01-01T00:00:00.000Z", seconds: 1.5, error: null }
      ])
      const events = yield* told
      assert.isTrue(events.some((event) => event._tag === "PhaseStarted" && event.phase === "install"))
      assert.isTrue(events.some((event) => event._tag === "PhaseEnded" && event.millis === 1500))
      for (const { runId, trialId } of events) assert.deepStrictEqual({ runId, trialId }, NAMES)
    })
  )

  it.effect("says how a phase failed, and tells an interruption from a failure", () =>
    Effect.gen(function* () {
      const record = yield* TrialRecord.make(NAMES)
      yield* Effect.exit(record.phase("post", Effect.fail(new Error("not accepted"))))
      const hanging = yield* Effect.forkScoped(record.phase("observe", Effect.never))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(hanging)
      assert.deepStrictEqual(
        (yield* record.facts).phases.map(({ error }) => error),
        ["not accepted", "interrupted"]
      )
    })
  )

  it.effect("returns the value of a step that goes well", () =>
    Effect.gen(function* () {
      const record = yield* TrialRecord.make(NAMES)
      assert.deepStrictEqual(yield* record.step("sweep", "1 second", Effect.succeed(3)), Option.some(3))
      assert.deepStrictEqual((yield* record.facts).cleanup, [{ step: "sweep", seconds: 0, error: null }])
    })
  )

  for (const [how, effect] of [
    ["fails", Effect.fail(new Error("broken"))],
    ["dies", Effect.die(new Error("broken"))]
  ] as const) {
    it.effect(`survives a step that ${how}`, () =>
      Effect.gen(function* () {
        const record = yield* TrialRecord.make(NAMES)
        assert.deepStrictEqual(yield* record.step("sweep", "1 second", effect), Option.none())
        assert.deepStrictEqual((yield* record.facts).cleanup, [{ step: "sweep", seconds: 0, error: "broken" }])
        assert.deepStrictEqual((yield* record.facts).warnings, ["sweep: broken"])
      })
    )
  }

  it.effect("does not wait for a step that cannot be interrupted, not even in an uninterruptible region", () =>
    Effect.gen(function* () {
      const record = yield* TrialRecord.make(NAMES)
      const step = record.step("sweep", "3 seconds", Effect.uninterruptible(Effect.never))
      const running = yield* Effect.forkScoped(Effect.uninterruptible(step))
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual(yield* Fiber.join(running), Option.none())
      assert.match((yield* record.facts).cleanup[0]?.error ?? "", /not finished after 3s/)
    })
  )

  it.effect("tells a step that takes too long to stop", () =>
    Effect.gen(function* () {
      const record = yield* TrialRecord.make(NAMES)
      const stopped = yield* Ref.make(false)
      const step = Effect.onInterrupt(Effect.never, () => Ref.set(stopped, true))
      const running = yield* Effect.forkScoped(record.step("sweep", "1 second", step))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(running)
      yield* Effect.yieldNow
      assert.isTrue(yield* Ref.get(stopped))
    })
  )

  it.effect("finishes a step although its caller is interrupted in an uninterruptible region", () =>
    Effect.gen(function* () {
      const record = yield* TrialRecord.make(NAMES)
      const finished = yield* Ref.make(false)
      const step = Effect.andThen(Effect.sleep("1 second"), Ref.set(finished, true))
      const running = yield* Effect.forkScoped(Effect.uninterruptible(record.step("sweep", "5 seconds", step)))
      yield* Effect.yieldNow
      const interrupting = yield* Effect.forkScoped(Fiber.interrupt(running))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(interrupting)
      assert.isTrue(yield* Ref.get(finished))
      assert.isTrue(Exit.isExit(yield* Fiber.await(running)))
    })
  )
})
