import { RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import * as TestTrial from "@buzz-orchestra/runtime/testing/TestTrial"
import { Trial } from "@buzz-orchestra/runtime/Trial"
import { eventsOf } from "@buzz-orchestra/runtime/TrialEvents"
import * as TrialServices from "@buzz-orchestra/runtime/TrialServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem, Layer, Stream } from "effect"
import { LEAD, readSummary, say, startTrial, trialLayer } from "./support/trial.ts"

/** Starts a trial and returns when it observes. */
const observing = Effect.fnUntraced(function* (trialId: string) {
  const started = yield* startTrial({ trialId })
  yield* Stream.runHead(Stream.filter(eventsOf({ runId: "run", trialId }), ({ _tag }) => _tag === "Waiting"))
  return started
})

const launched = Effect.map(
  TestStack.use(({ programs }) => programs),
  (programs) => programs.size
)

/** Ends the trial that observes. */
const end = Effect.fnUntraced(function* <A, E>(fiber: Fiber.Fiber<A, E>) {
  yield* say(LEAD, "DONE: it is there")
  return yield* Fiber.join(fiber)
})

describe("a second trial in an environment", () => {
  it.effect("is refused while the first one runs, which goes on undisturbed", () =>
    Effect.gen(function* () {
      const { fiber } = yield* observing("first")
      const { run } = yield* Trial
      const [before, asked] = [yield* launched, (yield* RecordingEnvironment.use(({ journal }) => journal)).length]
      const second = yield* TestTrial.testTrialOptions({ trialId: "second" })
      const error = yield* Effect.flip(run(second))
      assert.strictEqual(error.reason._tag, "EnvironmentBusy")
      assert.deepInclude(error, { phase: "prepare" })
      assert.deepInclude(error.reason, { environment: "recording environment", runId: "run", trialId: "first" })
      assert.strictEqual(yield* launched, before)
      assert.strictEqual((yield* RecordingEnvironment.use(({ journal }) => journal)).length, asked)
      assert.deepInclude((yield* readSummary(second.directory)).error, { phase: "prepare", reason: "EnvironmentBusy" })
      assert.deepInclude(yield* end(fiber), { outcome: "done" })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("is refused by the services of another layer over the same environment, too", () =>
    Effect.gen(function* () {
      const { fiber } = yield* observing("first")
      const options = yield* TestTrial.testTrialOptions()
      const again = Layer.fresh(TrialServices.layerRuntime)
      const error = yield* Trial.use(({ run }) => Effect.flip(run(options))).pipe(Effect.provide(again))
      assert.strictEqual(error.reason._tag, "EnvironmentBusy")
      yield* end(fiber)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("writes nothing over the first one's documents when it was given the same directory", () =>
    Effect.gen(function* () {
      const { fiber, options } = yield* observing("first")
      const { run } = yield* Trial
      const fs = yield* FileSystem.FileSystem
      const files = fs.readDirectory(options.directory)
      const before = yield* files
      yield* Effect.flip(run({ ...options, trialId: "second", directory: `${options.directory}/` }))
      assert.deepStrictEqual(yield* files, before)
      yield* end(fiber)
      assert.strictEqual((yield* readSummary(options.directory)).trial_id, "first")
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("runs when the first one has ended, however it ended", () =>
    Effect.gen(function* () {
      const { run } = yield* Trial
      const refused = yield* TestTrial.testTrialOptions({ maxAgentRounds: -1 })
      assert.strictEqual((yield* Effect.flip(run(refused))).reason._tag, "ConfigurationOutOfBounds")
      const { fiber: interrupted } = yield* observing("interrupted")
      yield* Fiber.interrupt(interrupted)
      for (const trialId of ["second", "third"]) {
        const { fiber } = yield* observing(trialId)
        assert.deepInclude((yield* end(fiber)).summary, { trial_id: trialId, outcome: "done", warnings: [] })
        const tags = (yield* Stream.runCollect(eventsOf({ runId: "run", trialId }))).map(({ _tag }) => _tag)
        assert.strictEqual(tags.indexOf("TrialStarted"), 0)
        assert.strictEqual(tags.lastIndexOf("TrialStarted"), 0)
        assert.includeMembers(tags, ["PhaseEnded", "AgentChanged", "MessageSeen", "Swept", "TrialEnded"])
      }
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("runs at the same time when it has an environment of its own", () =>
    Effect.gen(function* () {
      const { fiber } = yield* observing("first")
      yield* Effect.gen(function* () {
        const { fiber: second } = yield* observing("second")
        assert.deepInclude(yield* end(second), { outcome: "done" })
      }).pipe(Effect.provide(trialLayer(), { local: true }))
      assert.isUndefined(fiber.pollUnsafe())
      yield* end(fiber)
    }).pipe(Effect.provide(trialLayer()))
  )
})
