/** Whatever happens to a trial, what follows it happens: settle, sweep, collect, tear down, summary. */
import { RelayRefused, RelayUnreachable } from "@buzz-orchestra/relay/RelayError"
import { TestRelay } from "@buzz-orchestra/relay/testing/TestRelay"
import { TestTrialProvisioner } from "@buzz-orchestra/relay/testing/TestTrialProvisioner"
import { EnvironmentError, EnvironmentLost } from "@buzz-orchestra/runtime/EnvironmentError"
import type { RuntimeLaunchError } from "@buzz-orchestra/runtime/RuntimeLaunchError"
import { exited, RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import type { Phase } from "@buzz-orchestra/runtime/TrialEvent"
import { SUMMARY, TRANSCRIPT } from "@buzz-orchestra/runtime/BundleFiles"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, FileSystem } from "effect"
import { TestClock } from "effect/testing"
import {
  awaitEvent,
  awaitPhase,
  CHANNEL,
  eventsOf,
  LEAD,
  readSummary,
  runToDone,
  say,
  startTrial,
  trialLayer
} from "./support/trial.ts"

const lost = new EnvironmentError({
  operation: "EnvironmentService.exec",
  reason: new EnvironmentLost({ environment: "recording", detail: "out of memory", exitCode: 137 })
})

const refuse = (method: "observe" | "send") =>
  TestRelay.use((relay) =>
    relay.failNext(method, new RelayRefused({ url: "ws://r", status: 403, detail: "blocked: no" }))
  )

/** How each phase can be made to fail, and the reason it must fail with. */
const FAILURES: ReadonlyArray<{
  readonly phase: Phase
  readonly reason: string
  readonly sabotage: Effect.Effect<void, never, RecordingEnvironment | TestStack | TestRelay>
  readonly swept: boolean
}> = [
  {
    phase: "install",
    reason: "LayoutNotWritable",
    sabotage: RecordingEnvironment.use((environment) =>
      environment.answer((command) => (command.startsWith("mkdir") ? exited(1, { stderr: "read-only" }) : undefined))
    ),
    swept: false
  },
  {
    phase: "launch",
    reason: "AgentNotLaunched",
    sabotage: TestStack.use((stack) => stack.failNext("worker-1", 126, "Exec format error")),
    swept: true
  },
  {
    phase: "launch",
    reason: "EnvironmentLost",
    sabotage: RecordingEnvironment.use((environment) =>
      environment.answer((command) => (command.includes("worker-1.stdout.log") ? lost : undefined))
    ),
    swept: true
  },
  {
    phase: "launch",
    reason: "AgentsDied",
    sabotage: TestStack.use((stack) => stack.failNext("worker-1", 1, "Error: relay connect error")),
    swept: true
  },
  { phase: "post", reason: "TaskNotAccepted", sabotage: refuse("send"), swept: true },
  { phase: "post", reason: "TaskNotAccepted", sabotage: refuse("observe"), swept: true }
]

describe("a failure", () => {
  for (const { phase, reason, sabotage, swept } of FAILURES) {
    it.effect(`during ${phase} (${reason}) is followed by the whole clean-up and a summary`, () =>
      Effect.gen(function* () {
        yield* sabotage
        const { fiber, options } = yield* startTrial()
        const error = yield* Effect.flip(Fiber.join(fiber))
        assert.strictEqual(error._tag, "RuntimeLaunchError")
        assert.strictEqual((error as RuntimeLaunchError).phase, phase)
        assert.strictEqual((error as RuntimeLaunchError).reason._tag, reason)
        const summary = yield* readSummary(options.directory)
        assert.deepInclude(summary.error, { phase, reason })
        assert.isNull(summary.outcome)
        assert.strictEqual(summary.sweep !== null, swept)
        const programs = yield* TestStack.use(({ programs }) => programs)
        assert.deepStrictEqual(
          [...programs.values()].filter(({ alive }) => alive),
          []
        )
        assert.strictEqual((yield* TestTrialProvisioner.use(({ tornDown }) => tornDown)).length, 1)
        const events = yield* eventsOf
        assert.deepInclude(events.at(-1), { _tag: "TrialEnded", error: error.message })
      }).pipe(Effect.provide(trialLayer()))
    )
  }

  it.effect("to become ready is followed by the whole clean-up without waiting for usage", () =>
    Effect.gen(function* () {
      const { fiber, options } = yield* startTrial({ readinessTimeout: "5 seconds" })
      yield* awaitPhase("ready")
      yield* TestClock.adjust("5 seconds")
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error.reason._tag, "AgentsNotReady")
      const summary = yield* readSummary(options.directory)
      assert.strictEqual(summary.phases.find(({ phase }) => phase === "settle")?.seconds, 0)
      assert.deepStrictEqual(
        summary.agents.map(({ state }) => state),
        ["starting", "starting"]
      )
    }).pipe(Effect.provide(trialLayer({ stack: { ready: false } })))
  )
})

describe("an interruption", () => {
  for (const phase of ["provision", "install", "launch", "ready", "post", "observe"] as const) {
    it.effect(`during ${phase} is an outcome, cleaned up after, and then goes on`, () =>
      Effect.gen(function* () {
        const environment = yield* RecordingEnvironment
        if (phase === "install")
          yield* environment.answer((command) => (command.startsWith("mkdir") ? Effect.never : undefined))
        if (phase === "launch")
          yield* environment.answer((command) => (command.includes("NO_PROXY") ? Effect.never : undefined))
        const { fiber, options } = yield* startTrial()
        yield* phase === "observe" ? awaitEvent(({ _tag }) => _tag === "Waiting") : awaitPhase(phase)
        yield* Fiber.interrupt(fiber)
        assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
        const summary = yield* readSummary(options.directory)
        assert.deepInclude(summary, { outcome: "interrupted", error: null })
        const programs = yield* TestStack.use(({ programs }) => programs)
        assert.deepStrictEqual(
          [...programs.values()].filter(({ alive }) => alive),
          []
        )
        const tornDown = yield* TestTrialProvisioner.use(({ tornDown }) => tornDown)
        const relay = yield* TestRelay
        if ((yield* relay.channel(CHANNEL)) !== "absent") assert.strictEqual(tornDown.length, 1)
        assert.deepInclude((yield* eventsOf).at(-1), { _tag: "TrialEnded", outcome: "interrupted", error: undefined })
      }).pipe(Effect.provide(trialLayer({ stack: { ready: phase !== "ready" } })))
    )
  }
})

describe("the sweep", () => {
  it.effect("is exactly one TERM for everything launched, the forwarder last", () =>
    Effect.gen(function* () {
      yield* runToDone({ relayGateway: "gateway:3600" })
      const signals = yield* TestStack.use(({ signals }) => signals)
      assert.deepStrictEqual(signals, [
        { signal: "TERM", names: ["lead-1", "worker-1"] },
        { signal: "TERM", names: ["relay-forwarder"] }
      ])
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("is followed by KILL for what ignores TERM", () =>
    Effect.gen(function* () {
      yield* TestStack.use((stack) => stack.resist("worker-1", "TERM"))
      const { result } = yield* runToDone()
      const signals = yield* TestStack.use(({ signals }) => signals)
      assert.deepStrictEqual(signals, [
        { signal: "TERM", names: ["lead-1", "worker-1"] },
        { signal: "KILL", names: ["worker-1"] }
      ])
      assert.deepStrictEqual(result.summary.sweep, { survivors: [], spared: [] })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("lists what survived, as a warning and in the summary", () =>
    Effect.gen(function* () {
      yield* TestStack.use((stack) => stack.resist("worker-1", "KILL"))
      const { result } = yield* runToDone()
      const pid = (yield* TestStack.use(({ programs }) => programs)).get("worker-1")?.pid
      assert.deepStrictEqual(result.summary.sweep?.survivors, [{ pid: pid ?? 0, command: "/opt/buzz/bin/buzz-acp" }])
      assert.match(result.summary.warnings.join("\n"), new RegExp(`left processes alive: ${pid}`))
    }).pipe(Effect.provide(trialLayer()))
  )
})

describe("settling", () => {
  it.effect("waits for the usage of the last turn before anything is ended", () =>
    Effect.gen(function* () {
      const { fiber } = yield* startTrial()
      const stack = yield* TestStack
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* stack.log("lead-1", "pool::prompt", `turn starting for channel ${CHANNEL}`)
      yield* awaitEvent((event) => event._tag === "AgentChanged" && event.view._tag === "InTurn")
      yield* say(LEAD, "DONE: it is there")
      yield* awaitPhase("settle")
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(yield* stack.signals, [])
      yield* stack.log("lead-1", "acp::usage", "goose usage update input=Some(7) output=Some(2)", "DEBUG")
      yield* stack.log("lead-1", "pool::prompt", `turn complete for channel ${CHANNEL}: end_turn`)
      const { summary } = yield* Fiber.join(fiber)
      assert.deepInclude(summary.agents[0], { input_tokens: 7, output_tokens: 2, state: "idle", turns_ended: 1 })
      assert.deepInclude(summary.agents[1], { input_tokens: 0, cost_usd: 0, measurement: "idle", turns_started: 0 })
      assert.deepInclude(summary.totals, { input_tokens: 7, output_tokens: 2, cached_tokens: null })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("gives up after its time, with a warning, and sweeps", () =>
    Effect.gen(function* () {
      const { fiber } = yield* startTrial({ settleTimeout: "10 seconds" })
      const stack = yield* TestStack
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* stack.log("worker-1", "pool::prompt", `turn starting for channel ${CHANNEL}`)
      yield* awaitEvent((event) => event._tag === "AgentChanged" && event.view._tag === "InTurn")
      yield* TestClock.adjust("60 seconds")
      yield* awaitPhase("settle")
      yield* TestClock.adjust("10 seconds")
      const { outcome, summary } = yield* Fiber.join(fiber)
      assert.strictEqual(outcome, "timed-out")
      assert.match(summary.warnings.join("\n"), /worker-1 did not report the usage of a turn within 10s/)
      assert.strictEqual((yield* stack.signals).length, 1)
    }).pipe(Effect.provide(trialLayer()))
  )
})

describe("a step of the clean-up", () => {
  for (const [step, phase, deadline, hangs] of [
    ["sweep", "sweep", "30 seconds", (command: string) => command.startsWith("m='")],
    ["collect logs", "collect", "60 seconds", (command: string) => command.includes("for f in *.log")]
  ] as const) {
    it.effect(`that hangs (${step}) is left behind at its deadline and stops no other`, () =>
      Effect.gen(function* () {
        yield* RecordingEnvironment.use((environment) =>
          environment.answer((command) => (hangs(command) ? Effect.uninterruptible(Effect.never) : undefined))
        )
        const { fiber } = yield* startTrial()
        yield* awaitEvent(({ _tag }) => _tag === "Waiting")
        yield* say(LEAD, "DONE: it is there")
        yield* awaitPhase(phase)
        yield* TestClock.adjust(deadline)
        const { outcome, summary } = yield* Fiber.join(fiber)
        assert.strictEqual(outcome, "done")
        const failed = summary.cleanup.filter(({ error }) => error !== null)
        assert.deepStrictEqual(
          failed.map((entry) => entry.step),
          [step]
        )
        assert.match(failed[0]?.error ?? "", /not finished after|no answer within/)
        assert.include(summary.files, "transcript.json")
      }).pipe(Effect.provide(trialLayer()))
    )

    it.effect(`that fails (${step}) is recorded and stops no other`, () =>
      Effect.gen(function* () {
        yield* RecordingEnvironment.use((environment) =>
          environment.answer((command) => (hangs(command) ? lost : undefined))
        )
        const { result } = yield* runToDone()
        assert.strictEqual(result.outcome, "done")
        const failed = result.summary.cleanup.filter(({ error }) => error !== null)
        assert.deepStrictEqual(
          failed.map((entry) => entry.step),
          [step]
        )
        assert.match(failed[0]?.error ?? "", /out of memory/)
      }).pipe(Effect.provide(trialLayer()))
    )
  }

  it.effect("that loses the relay leaves the transcript as it was observed, marked as incomplete", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { fiber, options } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* TestRelay.use((relay) =>
        relay.failNext("readChannel", new RelayUnreachable({ url: "ws://r", detail: "refused" }))
      )
      yield* say(LEAD, "DONE: it is there")
      yield* Fiber.join(fiber)
      const transcript = JSON.parse(yield* fs.readFileString(`${options.directory}/${TRANSCRIPT}`))
      assert.deepInclude(transcript, { truncated: true, message_count: 2 })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("that cannot write into the trial directory does not lose the result", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { fiber, options } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* fs.makeDirectory(`${options.directory}/${SUMMARY}.unfinished`)
      yield* say(LEAD, "DONE: it is there")
      const { outcome, summary } = yield* Fiber.join(fiber)
      assert.strictEqual(outcome, "done")
      assert.match(summary.warnings.join("\n"), /write the summary/)
    }).pipe(Effect.provide(trialLayer()))
  )
})
