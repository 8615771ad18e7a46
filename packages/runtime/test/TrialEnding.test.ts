import { conditionWith } from "@buzz-orchestra/manifest/testing/TestManifest"
import { RelayRefused } from "@buzz-orchestra/relay/RelayError"
import { testIdentity } from "@buzz-orchestra/relay/testing/TestIdentity"
import { TestRelay } from "@buzz-orchestra/relay/testing/TestRelay"
import { TestTrialProvisioner } from "@buzz-orchestra/relay/testing/TestTrialProvisioner"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import { TRANSCRIPT } from "@buzz-orchestra/runtime/BundleFiles"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem, Schema } from "effect"
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
  trialLayer,
  WORKER
} from "./support/trial.ts"

/** An agent begins a turn, and so owes its usage. */
const beginTurn = (agentId: string) =>
  TestStack.use((stack) => stack.log(agentId, "pool::prompt", `turn starting for channel ${CHANNEL}`))

const usageLine = (input: number) => `goose usage update session_id="s" input=Some(${input}) output=Some(1)`

/** The last turn's usage, then its end. */
const endTurn = Effect.fnUntraced(function* (agentId: string, input: number) {
  const stack = yield* TestStack
  yield* stack.log(agentId, "acp::usage", usageLine(input), "DEBUG")
  yield* stack.log(agentId, "pool::prompt", `turn complete for channel ${CHANNEL}: end_turn`)
})

const observing = awaitEvent(({ _tag }) => _tag === "Waiting")
const inTurn = (agentId: string) =>
  awaitEvent((event) => event._tag === "AgentChanged" && event.agentId === agentId && event.view._tag === "InTurn")

/** The phases that follow the observation, in the order in which they were begun. */
const phasesAfterObserving = Effect.map(eventsOf, (events) => {
  const started = events.flatMap((event) => (event._tag === "PhaseStarted" ? [event.phase] : []))
  return started.slice(started.indexOf("observe") + 1)
})

const inputTokens = (summary: { readonly agents: ReadonlyArray<{ readonly input_tokens: number | null }> }) =>
  summary.agents.map(({ input_tokens }) => input_tokens)

describe("settling", () => {
  it.effect("waits for usage that has not been logged yet, and only then ends the agents", () =>
    Effect.gen(function* () {
      const { fiber } = yield* startTrial()
      yield* observing
      yield* beginTurn("lead-1")
      yield* inTurn("lead-1")
      yield* say(LEAD, "DONE: it is there")
      yield* awaitEvent((event) => event._tag === "Waiting" && event.sentence === "waiting for the usage of lead-1")
      yield* TestClock.adjust("59 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      const alive = yield* TestStack.use(({ programs }) => programs)
      assert.isTrue([...alive.values()].every(({ alive }) => alive))
      yield* endTurn("lead-1", 1234)
      const { outcome, summary } = yield* Fiber.join(fiber)
      assert.strictEqual(outcome, "done")
      assert.deepStrictEqual(inputTokens(summary), [1234, 0])
      assert.deepStrictEqual(yield* phasesAfterObserving, ["settle", "sweep", "collect"])
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("happens before the sweep when the budget is used up, too", () =>
    Effect.gen(function* () {
      const { fiber } = yield* startTrial()
      yield* observing
      yield* beginTurn("lead-1")
      yield* inTurn("lead-1")
      yield* TestClock.adjust("60 seconds")
      yield* awaitPhase("settle")
      yield* endTurn("lead-1", 77)
      const { outcome, summary } = yield* Fiber.join(fiber)
      assert.strictEqual(outcome, "timed-out")
      assert.deepStrictEqual(inputTokens(summary), [77, 0])
      assert.deepStrictEqual(yield* phasesAfterObserving, ["settle", "sweep", "collect"])
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("reads both streams of every agent, and in the end names only those who still owe", () =>
    Effect.gen(function* () {
      const condition = conditionWith({ roster: [{ id: "lead" }, { id: "worker", count: 2 }] })
      const { fiber } = yield* startTrial({ condition })
      const stack = yield* TestStack
      yield* observing
      for (const agentId of ["lead-1", "worker-1", "worker-2"]) {
        yield* beginTurn(agentId)
        yield* inTurn(agentId)
      }
      yield* TestClock.adjust("60 seconds")
      yield* awaitPhase("settle")
      yield* stack.print("worker-1", `2026-01-01T01:00:00.000000Z DEBUG acp::usage: ${usageLine(5)}`, "stderr")
      yield* stack.log("worker-2", "acp::usage", usageLine(6), "DEBUG")
      for (const agentId of ["worker-1", "worker-2"])
        yield* awaitEvent((event) => event._tag === "UsageSeen" && event.agentId === agentId)
      yield* TestClock.adjust("60 seconds")
      const { summary } = yield* Fiber.join(fiber)
      assert.deepStrictEqual(inputTokens(summary), [null, 5, 6])
      const late = summary.warnings.filter((warning) => warning.includes("usage"))
      assert.deepStrictEqual(late, ["lead-1 did not report the usage of a turn within 1m"])
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("with no time at all still counts what is there, and goes on", () =>
    Effect.gen(function* () {
      const { fiber } = yield* startTrial({ settleTimeout: 0 })
      yield* observing
      for (const agentId of ["lead-1", "worker-1"]) yield* beginTurn(agentId)
      yield* endTurn("worker-1", 9)
      yield* inTurn("lead-1")
      yield* awaitEvent(({ _tag }) => _tag === "UsageSeen")
      yield* say(LEAD, "DONE: it is there")
      const { outcome, summary } = yield* Fiber.join(fiber)
      assert.strictEqual(outcome, "done")
      assert.deepStrictEqual(inputTokens(summary), [null, 9])
      assert.match(summary.warnings.join("\n"), /lead-1 did not report the usage/)
    }).pipe(Effect.provide(trialLayer()))
  )
})

describe("the sweep", () => {
  const signals = TestStack.use(({ signals }) => signals)
  const everyone = ["lead-1", "worker-1"]

  it.effect("is TERM for everything that was launched, and nothing more when that is enough", () =>
    Effect.gen(function* () {
      const { result } = yield* runToDone()
      assert.deepStrictEqual(yield* signals, [{ signal: "TERM", names: everyone }])
      assert.deepStrictEqual(result.summary.sweep, { survivors: [], spared: [] })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("is TERM and then KILL, twice and no more, when somebody does not go", () =>
    Effect.gen(function* () {
      yield* TestStack.use((stack) => stack.resist("worker-1", "TERM"))
      const { result } = yield* runToDone()
      assert.deepStrictEqual(yield* signals, [
        { signal: "TERM", names: everyone },
        { signal: "KILL", names: ["worker-1"] }
      ])
      assert.deepStrictEqual(result.summary.sweep, { survivors: [], spared: [] })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("names what not even KILL ends, and the trial keeps its outcome", () =>
    Effect.gen(function* () {
      yield* TestStack.use((stack) => stack.resist("worker-1", "KILL"))
      const { result } = yield* runToDone()
      assert.strictEqual(result.outcome, "done")
      assert.match(result.summary.sweep?.survivors.map(({ command }) => command).join() ?? "", /^[^,]*buzz-acp$/)
      assert.match(result.summary.warnings.join("\n"), /the sweep left processes alive/)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("ends what was launched when the launch of another fails", () =>
    Effect.gen(function* () {
      yield* TestStack.use((stack) => stack.failNext("worker-1", 126, "sh: Exec format error"))
      const { fiber } = yield* startTrial()
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error.reason._tag, "AgentNotLaunched")
      const programs = yield* TestStack.use(({ programs }) => programs)
      assert.isTrue([...programs.values()].every(({ alive }) => !alive))
    }).pipe(Effect.provide(trialLayer()))
  )
})

describe("a trial's end is recorded, not inferred", () => {
  it.effect("a lone agent that stopped without DONE: has an outcome of its own and no message", () =>
    Effect.gen(function* () {
      const { fiber, options } = yield* startTrial({ condition: conditionWith({ roster: [{ id: "lead" }] }) })
      yield* observing
      yield* TestStack.use((stack) => stack.turn("lead-1"))
      yield* awaitEvent((event) => event._tag === "AgentChanged" && event.view._tag === "Idle")
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(fiber)
      assert.deepInclude(yield* readSummary(options.directory), {
        outcome: "stopped-without-done",
        solo_roster: true,
        completion_message: null,
        error: null
      })
    }).pipe(Effect.provide(trialLayer()))
  )
})

const Transcript = Schema.fromJsonString(
  Schema.Struct({
    message_count: Schema.Int,
    truncated: Schema.Boolean,
    messages: Schema.Array(Schema.Struct({ author: Schema.String, author_role: Schema.String, content: Schema.String }))
  })
)
const readTranscript = (directory: string) =>
  FileSystem.FileSystem.use((fs) => fs.readFileString(`${directory}/${TRANSCRIPT}`)).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Transcript))
  )

describe("the transcript", () => {
  it.effect("has every message in the order of sight, with the names of the trial's identities", () =>
    Effect.gen(function* () {
      const { fiber, options } = yield* startTrial()
      yield* observing
      yield* say(LEAD, "@worker-1 write it", [WORKER.pubkey])
      yield* say(testIdentity(9), "hello from outside")
      yield* say(WORKER, "written")
      yield* say(LEAD, "DONE: it is there")
      yield* Fiber.join(fiber)
      const transcript = yield* readTranscript(options.directory)
      assert.deepInclude(transcript, { message_count: 5, truncated: false })
      assert.deepStrictEqual(transcript.messages, [
        { author: "user", author_role: "user", content: "@lead-1 write hello.txt" },
        { author: "lead-1", author_role: "orchestrator", content: "@worker-1 write it" },
        {
          author: `stranger ${testIdentity(9).pubkey.slice(0, 8)}`,
          author_role: "unknown",
          content: "hello from outside"
        },
        { author: "worker-1", author_role: "worker", content: "written" },
        { author: "lead-1", author_role: "orchestrator", content: "DONE: it is there" }
      ])
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("that the relay does not complete never fails a finished trial, and says that it may lack something", () =>
    Effect.gen(function* () {
      const { fiber, options } = yield* startTrial()
      yield* observing
      const relay = yield* TestRelay
      const refused = new RelayRefused({ url: "ws://r", status: 403, detail: "restricted" })
      yield* relay.failNext("readChannel", refused)
      yield* say(LEAD, "DONE: it is there")
      assert.strictEqual((yield* Fiber.join(fiber)).outcome, "done")
      assert.deepInclude(yield* readTranscript(options.directory), { message_count: 2, truncated: true })
      assert.match((yield* readSummary(options.directory)).warnings.join("\n"), /restricted/)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("that cannot be written never fails a finished trial", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      // A directory in its place that is not empty cannot be replaced by a file.
      yield* fs.makeDirectory(`${directory}/${TRANSCRIPT}/in-the-way`, { recursive: true })
      const { result } = yield* runToDone({ directory })
      assert.strictEqual(result.outcome, "done")
      const step = result.summary.cleanup.find(({ step }) => step === "write the transcript")
      assert.isNotNull(step?.error)
    }).pipe(Effect.provide(trialLayer()))
  )
})

describe("the channel is taken down", () => {
  const takenDown = Effect.map(
    TestTrialProvisioner.use(({ tornDown }) => tornDown),
    (handles) => handles.map(({ channelId }) => channelId)
  )

  it.effect("once when the trial fails, whose error stays the trial's", () =>
    Effect.gen(function* () {
      const { fiber } = yield* startTrial()
      yield* observing
      const provisioner = yield* TestTrialProvisioner
      yield* provisioner.reportTeardown([{ step: "archive channel", error: "relay is gone" }])
      yield* TestStack.use((stack) => stack.die("worker-1", 1))
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error.reason._tag, "AgentsDied")
      assert.deepStrictEqual(yield* takenDown, [CHANNEL])
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("once when the trial is interrupted", () =>
    Effect.gen(function* () {
      const { fiber, options } = yield* startTrial()
      yield* observing
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* takenDown, [CHANNEL])
      assert.deepInclude(yield* readSummary(options.directory), { outcome: "interrupted", error: null })
    }).pipe(Effect.provide(trialLayer()))
  )
})
