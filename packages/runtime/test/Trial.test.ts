import { conditionWith } from "@buzz-orchestra/manifest/testing/TestManifest"
import { RelayRateLimited, RelayRefused, RelayUnreachable } from "@buzz-orchestra/relay/RelayError"
import { RelayStepFailed } from "@buzz-orchestra/relay/ProvisioningError"
import { TestRelay } from "@buzz-orchestra/relay/testing/TestRelay"
import { TestTrialProvisioner } from "@buzz-orchestra/relay/testing/TestTrialProvisioner"
import { exited, RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem, Redacted } from "effect"
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
  USER,
  WORKER
} from "./support/trial.ts"

const PHASES = "prepare provision install forward launch ready post observe settle sweep collect".split(" ")

const phasesStarted = Effect.map(eventsOf, (events) =>
  events.flatMap((event) => (event._tag === "PhaseStarted" ? [event.phase] : []))
)

const sends = Effect.map(
  TestRelay.use(({ calls }) => calls),
  (calls) => calls.filter(({ method }) => method === "send")
)

describe("Trial.run", () => {
  it.effect("goes through every phase in order and ends with the orchestrator's DONE:", () =>
    Effect.gen(function* () {
      const { options, result } = yield* runToDone()
      assert.strictEqual(result.outcome, "done")
      assert.strictEqual(result.completion?.content, "DONE: it is there")
      assert.deepStrictEqual(yield* phasesStarted, PHASES)
      const summary = yield* readSummary(options.directory)
      assert.deepStrictEqual(summary, result.summary)
      assert.deepInclude(summary, { outcome: "done", error: null, warnings: [], channel_id: CHANNEL })
      assert.deepStrictEqual(
        summary.cleanup.map(({ error, step }) => [step, error]),
        [
          "settle",
          "sweep",
          "collect logs",
          "keep the accounts",
          "read the channel",
          "write the transcript",
          "export the evidence",
          "write the trajectory",
          "collect the artifacts",
          "release",
          "tear down",
          "write the timing",
          "list the artifacts",
          "write the events",
          "read the files again"
        ].map((step) => [step, null])
      )
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("posts the task once, as the user, after every agent is ready, mentioned by public key", () =>
    Effect.gen(function* () {
      yield* runToDone({ instruction: "run `:%normal! @a` on the file, @worker-1" })
      const [send, ...more] = yield* sends
      assert.deepStrictEqual(more, [])
      assert.strictEqual(send?.actor.identity.pubkey, USER.pubkey)
      assert.deepStrictEqual(send?.argument, {
        channelId: CHANNEL,
        content: "@lead-1 run `:%normal! @a` on the file, @worker-1",
        mentions: [LEAD.pubkey]
      })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("opens the observation before it posts the task, and observes as the user only", () =>
    Effect.gen(function* () {
      yield* runToDone()
      const calls = yield* TestRelay.use(({ calls }) => calls)
      const methods = calls.map(({ method }) => method)
      assert.isTrue(methods.indexOf("observe") < methods.indexOf("send"))
      assert.deepStrictEqual(new Set(calls.map(({ actor }) => actor.identity.pubkey)), new Set([USER.pubkey]))
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("is not ended by a DONE: of the user, of a worker, of a stranger, or in the middle of a message", () =>
    Effect.gen(function* () {
      const { fiber } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      for (const identity of [USER, WORKER]) yield* say(identity, "DONE: fake")
      yield* say(LEAD, "not yet DONE: really")
      yield* TestClock.adjust("30 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* say(LEAD, "DONE: real")
      assert.strictEqual((yield* Fiber.join(fiber)).completion?.content, "DONE: real")
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("does not take a DONE: from before the task for the end", () =>
    Effect.gen(function* () {
      const { fiber } = yield* startTrial()
      yield* awaitPhase("ready")
      yield* say(LEAD, "DONE: of an earlier phase")
      const stack = yield* TestStack
      for (const agentId of ["lead-1", "worker-1"])
        yield* stack.log(agentId, "buzz_acp", `subscribed to channel ${CHANNEL}`)
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* TestClock.adjust("30 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* say(LEAD, "DONE: now")
      assert.strictEqual((yield* Fiber.join(fiber)).completion?.content, "DONE: now")
    }).pipe(Effect.provide(trialLayer({ stack: { ready: false } })))
  )

  it.effect("ends with the budget, which runs from the post", () =>
    Effect.gen(function* () {
      const { fiber } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* TestClock.adjust("59 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      const result = yield* Fiber.join(fiber)
      assert.strictEqual(result.outcome, "timed-out")
      assert.isUndefined(result.completion)
      assert.isNull(result.summary.error)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("ends when the team is quiescent: nothing can happen any more", () =>
    Effect.gen(function* () {
      const { fiber } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* TestStack.use((stack) => stack.turn("lead-1"))
      yield* awaitEvent((event) => event._tag === "AgentChanged" && event.view._tag === "Idle")
      yield* TestClock.adjust("6 seconds")
      const result = yield* Fiber.join(fiber)
      assert.strictEqual(result.outcome, "quiescent")
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("ends a lone agent's trial when its turn has ended", () =>
    Effect.gen(function* () {
      const { fiber } = yield* startTrial({ condition: conditionWith({ roster: [{ id: "lead" }] }) })
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* TestStack.use((stack) => stack.turn("lead-1"))
      yield* awaitEvent((event) => event._tag === "AgentChanged" && event.view._tag === "Idle")
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* Fiber.join(fiber)).outcome, "stopped-without-done")
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("survives a relay that breaks, and says so", () =>
    Effect.gen(function* () {
      const { fiber } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      const relay = yield* TestRelay
      yield* relay.reportStatus({ _tag: "Reconnecting", attempt: 2, detail: "connection reset" })
      yield* awaitEvent((event) => event._tag === "Warned" && event.detail.includes("connection reset"))
      yield* relay.reportStatus({ _tag: "Connected", attempt: 3 })
      yield* say(LEAD, "DONE: it is there")
      const result = yield* Fiber.join(fiber)
      assert.strictEqual(result.outcome, "done")
      assert.isAbove(result.summary.warnings.length, 0)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("reads the channel again after trouble before it calls a team quiescent", () =>
    Effect.gen(function* () {
      const relay = yield* TestRelay
      const { fiber } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* relay.failNext(
        "readChannel",
        new RelayRateLimited({ url: "ws://r", detail: "slow down", retryAfterMillis: undefined })
      )
      yield* TestStack.use((stack) => stack.turn("lead-1"))
      yield* awaitEvent((event) => event._tag === "AgentChanged" && event.view._tag === "Idle")
      yield* TestClock.adjust("10 seconds")
      const result = yield* Fiber.join(fiber)
      assert.strictEqual(result.outcome, "quiescent")
      assert.match(result.summary.warnings.join("\n"), /slow down/)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("calls it the relay's fault when the budget ends while the relay is away", () =>
    Effect.gen(function* () {
      const { fiber } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      const { reportStatus } = yield* TestRelay
      const warning = (text: string) => awaitEvent((event) => event._tag === "Warned" && event.detail.includes(text))
      yield* reportStatus({ _tag: "Reconnecting", attempt: 2, detail: "reset" })
      yield* warning("connecting again: reset")
      yield* reportStatus({ _tag: "Connected", attempt: 4 })
      yield* warning("connected to the relay again in 3 attempts")
      yield* reportStatus({ _tag: "Reconnecting", attempt: 9, detail: "refused" })
      yield* TestClock.adjust("60 seconds")
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error.reason._tag, "RelayLost")
      // Five since the fourth, which was a good one.
      assert.match(error.message, /\(5 attempts, the last: refused\)/)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("fails when the relay ends the observation for good", () =>
    Effect.gen(function* () {
      const { fiber, options } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* TestRelay.use((relay) =>
        relay.endObservations(
          new RelayRefused({ url: "ws://r", status: undefined, detail: "restricted: not a member" })
        )
      )
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error.reason._tag, "ObservationRefused")
      const summary = yield* readSummary(options.directory)
      assert.deepInclude(summary.error, { phase: "observe", reason: "ObservationRefused" })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("fails when an agent dies, whose last words are in the error", () =>
    Effect.gen(function* () {
      const { fiber } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      const stack = yield* TestStack
      yield* stack.print("worker-1", "thread panicked", "stderr")
      yield* stack.die("worker-1", 134)
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error.reason._tag, "AgentsDied")
      assert.match(error.message, /worker-1.*SIGABRT.*thread panicked/)
      assert.include(yield* phasesStarted, "sweep")
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("bridges the relay where a gateway is configured, before any agent is launched", () =>
    Effect.gen(function* () {
      yield* runToDone({ relayGateway: "host.docker.internal:3600" })
      const phases = yield* phasesStarted
      assert.deepStrictEqual(phases.slice(2, 5), ["install", "forward", "launch"])
      const programs = yield* TestStack.use(({ programs }) => programs)
      assert.deepStrictEqual([...programs.keys()], ["relay-forwarder", "lead-1", "worker-1"])
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("puts the task's files into the environment before anything is launched", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const source = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFileString(`${source}/input.txt`, "input")
      yield* runToDone({
        uploads: [
          { source, target: "/app" },
          { source: `${source}/input.txt`, target: "/tests/a" }
        ]
      })
      const journal = yield* RecordingEnvironment.use(({ journal }) => journal)
      const folder = journal.findIndex((entry) => entry._tag === "DirectoryUploaded" && entry.target === "/app")
      const file = journal.findIndex((entry) => entry._tag === "Uploaded" && entry.target === "/tests/a")
      const launch = journal.findIndex((entry) => entry._tag === "Executed" && entry.command.includes("/bin/buzz-acp'"))
      assert.isTrue(folder !== -1 && file !== -1 && folder < launch && file < launch)
    }).pipe(Effect.provide(trialLayer()))
  )
})

const m1 = (condition: string) => ({
  condition: conditionWith({ condition, roster: [{ id: "lead" }, { id: "worker" }] })
})
const withOutput = (stdout: string, exitCode = 0) => ({
  environment: {
    answers: [(command: string) => (command.includes("hello.txt") ? exited(exitCode, { stdout }) : undefined)]
  }
})
const probes = Effect.map(
  RecordingEnvironment.use(({ commands }) => commands),
  (commands) => commands.filter(({ command }) => command.includes("hello.txt"))
)

describe("Trial.run, the output of M1-hello-world", () => {
  it.effect("is checked as the grader checks it", () =>
    Effect.gen(function* () {
      const { result } = yield* runToDone(m1("M1-hello-world"))
      assert.strictEqual(result.outcome, "done")
      assert.strictEqual((yield* probes).length, 1)
    }).pipe(Effect.provide(trialLayer(withOutput("  Hello, world!\n"))))
  )

  it.effect("fails the trial when it is missing", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(runToDone(m1("M1-hello-world")))
      assert.strictEqual(error.reason._tag, "OutputProbeFailed")
      assert.match(error.message, /\/app\/hello\.txt/)
    }).pipe(Effect.provide(trialLayer(withOutput("", 1))))
  )

  it.effect("is nobody's business in another condition", () =>
    Effect.gen(function* () {
      yield* runToDone(m1("other"))
      assert.deepStrictEqual(yield* probes, [])
    }).pipe(Effect.provide(trialLayer(withOutput("", 1))))
  )
})

describe("Trial.run, provisioning", () => {
  it.effect("asks for what the options say, and takes everything down afterwards", () =>
    Effect.gen(function* () {
      const ownerKey = Redacted.make("owner-secret")
      const { options } = yield* runToDone({ ownerKey, channelLabel: "task", userRelayUrl: "http://127.0.0.1:3600" })
      const provisioner = yield* TestTrialProvisioner
      const [request] = yield* provisioner.requests
      assert.deepInclude(request, {
        runId: "run",
        manifestHash: options.condition.sha256,
        channelLabel: "task",
        userRelayUrl: "http://127.0.0.1:3600",
        ownerKey
      })
      assert.strictEqual((yield* provisioner.tornDown).length, 1)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("that fails leaves a summary and launches nothing", () =>
    Effect.gen(function* () {
      const provisioner = yield* TestTrialProvisioner
      const unreachable = new RelayUnreachable({ url: "ws://r", detail: "refused" })
      yield* provisioner.failNext(new RelayStepFailed({ step: "channel", reason: unreachable }))
      const { fiber, options } = yield* startTrial()
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error._tag, "ProvisioningError")
      const summary = yield* readSummary(options.directory)
      assert.deepInclude(summary.error, { phase: "provision", reason: "RelayStepFailed" })
      assert.deepStrictEqual(yield* RecordingEnvironment.use(({ journal }) => journal), [])
      assert.deepStrictEqual(yield* provisioner.tornDown, [])
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("reports what taking down left behind as warnings, never as the error", () =>
    Effect.gen(function* () {
      const provisioner = yield* TestTrialProvisioner
      yield* provisioner.reportTeardown([{ step: "archive channel", error: "relay is gone" }])
      const { result } = yield* runToDone()
      assert.strictEqual(result.outcome, "done")
      assert.match(result.summary.warnings.join("\n"), /archive channel: relay is gone/)
    }).pipe(Effect.provide(trialLayer()))
  )
})
