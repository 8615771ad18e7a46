/** What passes on the relay costs no trial: it is tried again for as long as the budget lasts, and stands in the summary. */
import { RelayRateLimited, RelayRefused, type RelayReason, RelayUnreachable } from "@buzz-orchestra/relay/RelayError"
import { TestRelay } from "@buzz-orchestra/relay/testing/TestRelay"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Random } from "effect"
import { TestClock } from "effect/testing"
import { awaitEvent, eventsOf, LEAD, readSummary, say, startTrial, trialLayer } from "./support/trial.ts"

const url = "ws://r"
const refused = new RelayRefused({ url, status: 403, detail: "restricted: not now" })
const limited = new RelayRateLimited({ url, detail: "slow down", retryAfterMillis: undefined })
const away = new RelayUnreachable({ url, detail: "connection refused" })

const readings = Effect.map(
  TestRelay.use(({ calls }) => calls),
  (calls) => calls.filter(({ method }) => method === "readChannel").length
)

/** The next readings of the channel meet this. */
const failReadings = (count: number, reason: RelayReason) =>
  TestRelay.use((relay) => Effect.replicateEffect(relay.failNext("readChannel", reason), count, { discard: true }))

/** A trial whose team is idle: it is over as soon as the channel could be read once more. */
const idle = Effect.gen(function* () {
  const started = yield* startTrial()
  yield* awaitEvent(({ _tag }) => _tag === "Waiting")
  yield* TestStack.use((stack) => stack.turn("lead-1"))
  yield* awaitEvent((event) => event._tag === "AgentChanged" && event.view._tag === "Idle")
  return started
})

describe("a query that meets trouble during the observation", () => {
  for (const [what, reason, words] of [
    ["is refused once", refused, /restricted: not now/],
    ["gets a 429", limited, /slow down/],
    ["finds nobody there", away, /connection refused/]
  ] as const) {
    it.effect(`because it ${what} is tried again, and stands in the summary`, () =>
      Effect.gen(function* () {
        yield* failReadings(1, reason)
        const { fiber, options } = yield* idle
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual((yield* Fiber.join(fiber)).outcome, "quiescent")
        const { error, warnings } = yield* readSummary(options.directory)
        assert.isNull(error)
        assert.match(warnings.join("\n"), words)
        assert.match(warnings.join("\n"), /read after 1 failed attempts/)
      }).pipe(Effect.provide(trialLayer()))
    )
  }

  it.effect("is tried for as long as the budget lasts, told once, and does not hide the team's DONE:", () =>
    Effect.gen(function* () {
      yield* failReadings(12, limited)
      const { fiber, options } = yield* idle
      yield* TestClock.adjust("40 seconds")
      assert.isAbove(yield* readings, 8)
      assert.isUndefined(fiber.pollUnsafe())
      yield* say(LEAD, "DONE: after all")
      assert.strictEqual((yield* Fiber.join(fiber)).outcome, "done")
      const { warnings } = yield* readSummary(options.directory)
      assert.strictEqual(warnings.filter((text) => text.includes("could not be read")).length, 1)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("until the budget is over is the relay's fault, not the team's", () =>
    Effect.gen(function* () {
      yield* failReadings(1000, refused)
      const { fiber } = yield* idle
      yield* TestClock.adjust("60 seconds")
      const { reason } = yield* Effect.flip(Fiber.join(fiber))
      assert.deepInclude(reason, { _tag: "RelayLost", relay: "http://localhost:3600" })
      assert.match(reason.message, /budget of 60 s \(\d+ attempts, the last: .*not now/)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("is tried at times that no two trials share", () =>
    Effect.gen(function* () {
      /** When the readings happen, in steps of 10 ms. */
      const times = Effect.gen(function* () {
        yield* failReadings(1000, away)
        const { fiber } = yield* idle
        yield* TestClock.adjust("5 seconds")
        const found: Array<number> = []
        for (let step = 0, seen = yield* readings; step < 300; step++) {
          yield* TestClock.adjust("10 millis")
          const now = yield* readings
          if (now > seen) found.push(step)
          seen = now
        }
        yield* Fiber.interrupt(fiber)
        return found
      })
      const all = yield* Effect.forEach(["a", "b", "c"], (seed) =>
        times.pipe(Random.withSeed(seed), Effect.provide(trialLayer(), { local: true }))
      )
      for (const found of all) assert.isAbove(found.length, 1)
      assert.strictEqual(new Set(all.map((found) => found.join())).size, 3)
    })
  )
})

describe("an interruption while something is tried again", () => {
  it.effect("is no failure, and nothing is tried after it but what the record needs", () =>
    Effect.gen(function* () {
      yield* failReadings(1000, away)
      const { fiber, options } = yield* idle
      yield* TestClock.adjust("8 seconds")
      const before = yield* readings
      assert.isAbove(before, 1)
      yield* Fiber.interrupt(fiber)
      const exit = yield* Fiber.await(fiber)
      assert.isTrue(Exit.hasInterrupts(exit) && !Exit.hasFails(exit) && !Exit.hasDies(exit))
      assert.deepInclude(yield* readSummary(options.directory), { outcome: "interrupted", error: null })
      // The transcript's one reading.
      assert.strictEqual(yield* readings, before + 1)
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(yield* readings, before + 1)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("while the connection is away is no failure either", () =>
    Effect.gen(function* () {
      const { fiber } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* TestRelay.use((relay) => relay.reportStatus({ _tag: "Reconnecting", attempt: 3, detail: "gone" }))
      yield* awaitEvent((event) => event._tag === "Warned")
      yield* Fiber.interrupt(fiber)
      const exit = yield* Fiber.await(fiber)
      assert.isTrue(Exit.hasInterrupts(exit) && !Exit.hasFails(exit) && !Exit.hasDies(exit))
      const events = yield* eventsOf
      assert.deepInclude(events.at(-1), { _tag: "TrialEnded", outcome: "interrupted", error: undefined })
    }).pipe(Effect.provide(trialLayer()))
  )
})
