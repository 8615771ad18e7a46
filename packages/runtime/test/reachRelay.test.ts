import { FORWARDER } from "@buzz-orchestra/runtime/StackFiles"
import { type Answer, exited, RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { PROBE_ATTEMPTS, PROBE_PAUSE } from "../src/internal/reachRelay.ts"
import { awaitPhase, readSummary, runToDone, startTrial, trialLayer, trialOnDisk } from "./support/trial.ts"

const isProbe = (command: string) => command.includes("Sec-WebSocket-Key: ")

/** The environment answers for the relay so, from now on. Returns how often it was asked. */
const relayAnswers = Effect.fnUntraced(function* (answer: (attempt: number) => ReturnType<Answer>) {
  let asked = 0
  const { answer: add } = yield* RecordingEnvironment
  yield* add((command) => (isProbe(command) ? answer(++asked) : undefined))
  return () => asked
})

/** The clock stands still but here: real files are written before and after. */
const passPauses = Effect.gen(function* () {
  const { commands } = yield* RecordingEnvironment
  yield* awaitPhase("forward")
  for (let attempt = 1; attempt < PROBE_ATTEMPTS; attempt++) {
    const asked = Effect.map(commands, (all) => all.filter(({ command }) => isProbe(command)).length)
    while ((yield* asked) < attempt) yield* Effect.yieldNow
    yield* TestClock.adjust(PROBE_PAUSE)
  }
})

/** `testTrialOptions` bring the program; a trial needs it named. */
const THROUGH = { relayUrl: "ws://localhost:1", relayGateway: "gateway:1" }

const refused = () => exited(91, { stderr: "bash: connect: Connection refused\n" })

describe("the relay as the environment sees it", () => {
  it.effect("is asked three times, and its last answer ends the trial", () =>
    Effect.gen(function* () {
      const asked = yield* relayAnswers(refused)
      const { fiber, options } = yield* startTrial()
      yield* passPauses
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error.reason._tag, "RelayNotAnswering")
      assert.match(
        error.message,
        /^forward: the relay at ws:.* in recording environment, asked 3 times: Connection refused\./
      )
      assert.strictEqual(asked(), PROBE_ATTEMPTS)
      assert.deepStrictEqual(yield* TestStack.use(({ programs }) => programs), new Map(), "no agent was started")
      const summary = yield* readSummary(options.directory)
      assert.strictEqual(summary.error?.reason, "RelayNotAnswering")
      assert.isNull(summary.relay_probe)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("may be away for a moment", () =>
    Effect.gen(function* () {
      yield* relayAnswers((attempt) => (attempt < PROBE_ATTEMPTS ? refused() : undefined))
      const running = yield* Effect.forkScoped(runToDone())
      yield* passPauses
      const { result } = yield* Fiber.join(running)
      assert.deepStrictEqual(result.summary.relay_probe, { result: "handshake", detail: null })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("that cannot be asked is no failure, and the record says so", () =>
    Effect.gen(function* () {
      yield* relayAnswers(() => exited(91, { stderr: "bash: /dev/tcp/relay/80: No such file or directory\n" }))
      const { options } = yield* runToDone()
      const summary = yield* readSummary(options.directory)
      assert.deepStrictEqual(summary.relay_probe, {
        result: "unknown",
        detail: "its bash was built without network connections"
      })
      assert.include(
        summary.warnings,
        "whether the relay answers programs in the environment is not known: its bash was built without network connections"
      )
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("with TLS is tried as far as a connection goes", () =>
    Effect.gen(function* () {
      const { options } = yield* runToDone({ relayUrl: "wss://relay.test" })
      const summary = yield* readSummary(options.directory)
      assert.deepStrictEqual(summary.relay_probe, { result: "connection", detail: null })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("is asked through the forwarder, where there is one", () =>
    Effect.gen(function* () {
      yield* relayAnswers(() => exited(0))
      const { fiber } = yield* startTrial(THROUGH)
      yield* passPauses
      const { reason } = yield* Effect.flip(Fiber.join(fiber))
      assert.deepInclude(reason, { _tag: "RelayNotAnswering", through: FORWARDER, detail: "it closed the connection" })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("is still reached through a forwarder that the next trial in the environment is to adopt", () =>
    Effect.gen(function* () {
      const alive = Effect.map(
        TestStack.use(({ programs }) => programs),
        (programs) => programs.get(FORWARDER)
      )
      const first = yield* runToDone({ ...THROUGH, forwarder: { keep: true } })
      const kept = yield* alive
      assert.isTrue(kept?.alive)
      assert.isTrue(first.result.summary.sweep?.spared.some(({ pid }) => pid === kept?.pid))
      const second = yield* runToDone({ ...THROUGH, trialId: "trial-2", forwarder: { adopt: true } })
      assert.deepStrictEqual(second.result.summary.sweep?.survivors, [])
      assert.deepStrictEqual(yield* Effect.map(alive, (one) => [one?.pid, one?.alive]), [kept?.pid, false])
      // The double shows a second watch all that the first one saw, and the disk is slow enough that nobody takes it for news.
    }).pipe(Effect.provide(trialOnDisk()))
  )
})
