/**
 * `node src/Greeting.test.ts`: tests of this program's own code. Around `Trial` everything is a double, so no process is
 * started, no socket opened and no second waited; `Trial` itself is the real one.
 */
import { testIdentity } from "@buzz-orchestra/relay/testing/TestIdentity"
import { TestRelay } from "@buzz-orchestra/relay/testing/TestRelay"
import { testTrialHandle } from "@buzz-orchestra/relay/testing/TestTrialHandle"
import { exited } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import * as TestTrial from "@buzz-orchestra/runtime/testing/TestTrial"
import { TrialEvents } from "@buzz-orchestra/runtime/TrialEvents"
import { conditionWith } from "@buzz-orchestra/manifest/testing/TestManifest"
import { Effect, Fiber, Layer, type Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import assert from "node:assert/strict"
import { test } from "node:test"
import { greet } from "./Greeting.ts"
import * as Platform from "./Platform.ts"

/** The keys and the channel of the doubles are the same in every run: the user is identity 1, the lead 2, the writer 3. */
const LEAD = testIdentity(2)
const { channelId } = testTrialHandle()

const layer = TestTrial.layerWith({
  environment: {
    answers: [(command) => (command === "cat greeting.txt" ? exited(0, { stdout: "Hello, Ada!\n" }) : undefined)]
  }
}).pipe(Layer.provideMerge(Platform.layerFiles), Layer.provideMerge(TestClock.layer()))

/** Starts the greeting and waits until its team is at work. */
const start = Effect.gen(function* () {
  const condition = conditionWith({ roster: [{ id: "lead" }, { id: "writer" }], trial_budget: { timeout_seconds: 60 } })
  const { directory, ...team } = yield* TestTrial.testTrialOptions({ condition })
  const greeting = yield* Effect.forkScoped(greet(team, "Ada", directory))
  const { stream } = yield* TrialEvents
  yield* Stream.runDrain(Stream.takeUntil(stream, ({ _tag }) => _tag === "Waiting"))
  return greeting
})

const run = <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof layer> | Scope.Scope>) =>
  Effect.runPromise(effect.pipe(Effect.scoped, Effect.provide(layer)))

test("the team gets the task once, and its greeting is read when the lead is done", () =>
  run(
    Effect.gen(function* () {
      const relay = yield* TestRelay
      const greeting = yield* start
      yield* relay.say(LEAD, { channelId, content: "DONE: it is written" })
      assert.deepEqual(yield* Fiber.join(greeting), { outcome: "done", text: "Hello, Ada!" })
      const posts = (yield* relay.calls).filter(({ method }) => method === "send")
      assert.deepEqual(
        posts.map(({ argument }) => argument),
        [
          {
            channelId,
            content: "@lead-1 Write a greeting for Ada into greeting.txt.",
            mentions: [LEAD.pubkey]
          }
        ]
      )
    })
  ))

test("a team that never finishes costs its budget and no more", () =>
  run(
    Effect.gen(function* () {
      const greeting = yield* start
      yield* TestClock.adjust("60 seconds")
      assert.equal((yield* Fiber.join(greeting)).outcome, "timed-out")
    })
  ))

test("a writer that dies ends the trial, and what was launched is gone", () =>
  run(
    Effect.gen(function* () {
      const stack = yield* TestStack
      const greeting = yield* start
      yield* stack.die("writer-1", 137)
      const died = yield* Fiber.join(greeting).pipe(
        Effect.as("nobody"),
        Effect.catchReason("RuntimeLaunchError", "AgentsDied", ({ agents }) =>
          Effect.succeed(agents.map(({ agentId }) => agentId).join())
        )
      )
      assert.equal(died, "writer-1")
      const programs = yield* stack.programs
      assert.deepEqual([...programs.values()].map(({ alive, name }) => [name, alive]).toSorted(), [
        ["lead-1", false],
        ["writer-1", false]
      ])
    })
  ))
