import { eventsOf, KEPT_EVENTS, TrialEvents } from "@buzz-orchestra/runtime/TrialEvents"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"

const NAMES = { runId: "run", trialId: "trial" }

const warned = (detail: string, trial = NAMES) => ({ ...trial, _tag: "Warned" as const, detail })

describe("TrialEvents", () => {
  it.effect("stamps each event and gives late subscribers what they missed", () =>
    Effect.gen(function* () {
      const events = yield* TrialEvents
      yield* events.publish(warned("first"))
      yield* TestClock.adjust("2 seconds")
      const reading = yield* Effect.forkScoped(Stream.runCollect(Stream.take(events.stream, 2)))
      yield* events.publish(warned("second"))
      assert.deepStrictEqual(yield* Fiber.join(reading), [
        { at: 0, ...warned("first") },
        { at: 2000, ...warned("second") }
      ])
    }).pipe(Effect.provide(TrialEvents.layer))
  )

  it.effect("is never held up by a subscriber that does not read", () =>
    Effect.gen(function* () {
      const events = yield* TrialEvents
      yield* Effect.forkScoped(Stream.runForEach(events.stream, () => Effect.never))
      yield* Effect.yieldNow
      for (let n = 0; n <= KEPT_EVENTS + 10; n++) yield* events.publish(warned(`${n}`))
      const [newest] = yield* Stream.runCollect(
        Stream.take(
          Stream.filter(events.stream, (event) => event._tag === "Warned" && event.detail === `${KEPT_EVENTS + 10}`),
          1
        )
      )
      assert.isDefined(newest)
    }).pipe(Effect.provide(TrialEvents.layer))
  )

  it.effect("tells one trial from another, whichever ran before or runs at the same time", () =>
    Effect.gen(function* () {
      const events = yield* TrialEvents
      const ended = { _tag: "TrialEnded" as const, outcome: "done" as const, error: undefined }
      const [earlier, other] = [
        { runId: "run", trialId: "earlier" },
        { runId: "other run", trialId: "trial" }
      ]
      yield* events.publish(warned("of the earlier", earlier))
      yield* events.publish({ ...earlier, ...ended })
      yield* events.publish(warned("before"))
      const reading = yield* Effect.forkScoped(Stream.runCollect(eventsOf(NAMES)))
      yield* events.publish(warned("of the other", other))
      yield* events.publish({ ...other, ...ended })
      yield* events.publish(warned("after"))
      yield* events.publish({ ...NAMES, ...ended })
      const details = (yield* Fiber.join(reading)).map((event) => (event._tag === "Warned" ? event.detail : event._tag))
      assert.deepStrictEqual(details, ["before", "after", "TrialEnded"])
    }).pipe(Effect.provide(TrialEvents.layer))
  )

  it.effect("ends with its layer", () =>
    Effect.gen(function* () {
      const stream = yield* Effect.scoped(
        Effect.map(TrialEvents, ({ stream }) => stream).pipe(Effect.provide(TrialEvents.layer))
      )
      assert.deepStrictEqual(
        yield* Effect.timeoutOption(Stream.runCollect(stream), "1 second").pipe(Effect.map((o) => o._tag)),
        "Some"
      )
    })
  )
})
