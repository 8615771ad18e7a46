import { conditionWith } from "@buzz-orchestra/manifest/testing/TestManifest"
import { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import { Trial } from "@buzz-orchestra/runtime/Trial"
import type { TrialOptions } from "@buzz-orchestra/runtime/TrialOptions"
import {
  ARTIFACTS,
  COLLECTED,
  EVIDENCE,
  programLog,
  RESULT,
  SUMMARY,
  TRANSCRIPT
} from "@buzz-orchestra/runtime/BundleFiles"
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, FileSystem, Layer, Redacted } from "effect"
import {
  inside,
  leadSays,
  processesWith,
  ProvisionedHandle,
  realTrialLayer,
  realTrialOptions
} from "./support/realTrial.ts"
import { awaitEvent, awaitPhase, readSummary } from "./support/trial.ts"

const start = Effect.fnUntraced(function* (fields: Partial<TrialOptions> = {}) {
  const trial = yield* Trial
  const options = yield* realTrialOptions(fields)
  return { options, fiber: yield* Effect.forkScoped(trial.run(options)) }
})

const awaitObserving = awaitEvent(({ _tag }) => _tag === "Waiting")

/** A trial that hangs must not hang the tests, and none may outlive the environment it runs in. */
const bounded = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.timeout(Effect.scoped(effect), "15 seconds")

/** A team of one, where it does not matter how many there are. */
const SOLO = conditionWith({ roster: [{ id: "lead" }] })

/** A trial that went well, for all who only look at what it left. */
class Finished extends Context.Service<Finished, Effect.Success<typeof finished>>()("test/Finished") {
  static readonly layer = Layer.effect(
    Finished,
    Effect.suspend(() => finished)
  ).pipe(Layer.provideMerge(realTrialLayer))
}

const finished = Effect.gen(function* () {
  const { fiber, options } = yield* start({ relayGateway: "127.0.0.1:9" })
  const handle = yield* Deferred.await(yield* ProvisionedHandle)
  yield* awaitObserving
  const running = {
    agents: yield* processesWith("/bin/sh /opt/buzz/bin/buzz-acp"),
    forwarders: yield* processesWith("sleep 500")
  }
  yield* inside(
    "mkdir -p /logs/artifacts/deep && cd /logs/artifacts && echo kept >deep/notes.txt && ln -s deep/notes.txt last"
  )
  yield* leadSays("DONE: nothing was done")
  const result = yield* Fiber.join(fiber)
  return { handle, options, result, running }
})

layer(Finished.layer, { excludeTestServices: true, timeout: "30 seconds" })("Trial, with real processes", (it) => {
  it.effect("ends when the lead posts DONE:, leaves nothing alive and its logs on disk", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { options, result, running } = yield* Finished
      assert.lengthOf(running.agents, 3)
      assert.strictEqual(result.outcome, "done")
      assert.deepStrictEqual(yield* processesWith("/opt/buzz/bin"), [])
      assert.deepStrictEqual(result.summary.warnings, [])
      assert.deepStrictEqual(result.summary.sweep, { survivors: [], spared: [] })
      assert.deepStrictEqual(yield* readSummary(options.directory), result.summary)
      const log = yield* fs.readFileString(`${options.directory}/${programLog("worker-2", "stdout")}`)
      assert.match(log, /connected to relay at ws:\/\/127\.0\.0\.1:\d+ as \[redacted\]\n/)
      assert.match(log, /subscribed to channel/)
      assert.match(log, /shutting down\n$/)
      const stderr = yield* fs.readFileString(`${options.directory}/${programLog("lead-1", "stderr")}`)
      assert.match(stderr, /^agent of test-model in \/app$/m)
    })
  )

  it.effect("leaves no secret of the trial in any file", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { handle, options, result } = yield* Finished
      const secrets = [handle.user, ...handle.credentials].map(({ identity }) => Redacted.value(identity.secretKey))
      assert.isAbove(result.summary.files.length, 8)
      for (const file of [...Object.keys(result.summary.digests), SUMMARY, RESULT]) {
        const text = yield* fs.readFileString(`${options.directory}/${file}`)
        for (const secret of secrets) assert.notInclude(text, secret, file)
      }
    })
  )

  it.effect("keeps the artifacts that were left in the sandbox, and the evidence among them", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { directory } = (yield* Finished).options
      const collected = `${directory}/${COLLECTED}`
      assert.strictEqual(yield* fs.readFileString(`${collected}/deep/notes.txt`), "kept\n")
      assert.strictEqual(yield* fs.readFileString(`${collected}/last`), "kept\n")
      assert.strictEqual(
        yield* fs.readFileString(`${collected}/buzz-evidence.json`),
        yield* fs.readFileString(`${directory}/${EVIDENCE}`)
      )
      assert.deepStrictEqual(JSON.parse(yield* fs.readFileString(`${directory}/${ARTIFACTS}`)), [
        { source: "/logs/artifacts", destination: COLLECTED, type: "directory", status: "ok", service: null }
      ])
    })
  )

  it.effect("archives its channel and keeps the transcript", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { handle, options } = yield* Finished
      const transcript = JSON.parse(yield* fs.readFileString(`${options.directory}/${TRANSCRIPT}`))
      assert.deepInclude(transcript, { channel_id: handle.channelId, message_count: 2, truncated: false })
      assert.deepStrictEqual(
        transcript.messages.map((message: Record<string, unknown>) => [message["author"], message["content"]]),
        [
          ["user", "@lead-1 do nothing"],
          ["lead-1", "DONE: nothing was done"]
        ]
      )
      const client = yield* BuzzClient
      const actor = { relayUrl: handle.relayUrl, identity: handle.user.identity }
      const late = yield* Effect.result(client.send(actor, { channelId: handle.channelId, content: "too late" }))
      assert.strictEqual(late._tag, "Failure")
    })
  )

  it.effect("starts the forwarder before the agents and ends it after them", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { options, running } = yield* Finished
      assert.lengthOf(running.forwarders, 1)
      assert.deepStrictEqual(yield* processesWith("sleep 500"), [])
      const log = yield* fs.readFileString(`${options.directory}/${programLog("relay-forwarder", "stdout")}`)
      assert.match(log, /^forwarding 127\.0\.0\.1:\d+ -> 127\.0\.0\.1:9\n$/)
    })
  )
})

/** What a quick run sees in the matrix, among others. */
const IN_THE_MATRIX = { tags: ["thorough"] }

describe("Trial, with real processes", () => {
  it.live(
    "is timed out by the budget, and agents that ignore TERM are ended all the same",
    () =>
      Effect.gen(function* () {
        yield* inside("touch /app/stubborn")
        const condition = conditionWith({ roster: [{ id: "lead" }], trial_budget: { timeout_seconds: 1 } })
        const { fiber } = yield* start({ condition })
        const result = yield* Fiber.join(fiber)
        assert.strictEqual(result.outcome, "timed-out")
        assert.deepStrictEqual(yield* processesWith("/opt/buzz/bin"), [])
      }).pipe(bounded, Effect.provide(realTrialLayer)),
    IN_THE_MATRIX
  )

  for (const phase of ["install", "launch", "ready", "observe"] as const) {
    it.live(
      `is interrupted during ${phase}: everything is ended and the summary written before that goes on`,
      () =>
        Effect.gen(function* () {
          const { fiber, options } = yield* start({ condition: SOLO })
          yield* awaitPhase(phase)
          yield* Fiber.interrupt(fiber)
          assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
          assert.deepStrictEqual(yield* processesWith("/opt/buzz/bin"), [])
          const summary = yield* readSummary(options.directory)
          assert.deepInclude(summary, { outcome: "interrupted", error: null })
        }).pipe(bounded, Effect.provide(realTrialLayer)),
      IN_THE_MATRIX
    )
  }

  it.live("fails when the agents die, with how and with what they last said", () =>
    Effect.gen(function* () {
      const { fiber, options } = yield* start()
      yield* awaitObserving
      yield* inside("kill -USR1 $(cat /opt/buzz/logs/worker-1.pid)")
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error.reason._tag, "AgentsDied")
      assert.match(error.message, /worker-1 \(its process ended, exit code 101; .*thread main panicked/)
      assert.deepStrictEqual(yield* processesWith("/opt/buzz/bin"), [])
      assert.deepInclude((yield* readSummary(options.directory)).error, { phase: "observe", reason: "AgentsDied" })
    }).pipe(bounded, Effect.provide(realTrialLayer))
  )

  it.live(
    "spares a service that the task asked for, and lists it",
    () =>
      Effect.gen(function* () {
        yield* inside("touch /app/service")
        const { fiber } = yield* start({ condition: SOLO })
        yield* awaitObserving
        yield* leadSays("DONE: it runs")
        const { summary } = yield* Fiber.join(fiber)
        assert.deepStrictEqual(
          summary.sweep?.spared.map(({ command }) => command),
          ["sleep 300"]
        )
        assert.strictEqual((yield* processesWith("sleep 300")).length, 1)
      }).pipe(bounded, Effect.provide(realTrialLayer)),
    IN_THE_MATRIX
  )

  it.live(
    "ends such a service as well when asked to sweep all",
    () =>
      Effect.gen(function* () {
        yield* inside("touch /app/service")
        const { fiber } = yield* start({ condition: SOLO, sweep: "all" })
        yield* awaitObserving
        yield* leadSays("DONE: it ran")
        const { summary } = yield* Fiber.join(fiber)
        assert.deepStrictEqual(summary.sweep, { survivors: [], spared: [] })
        assert.deepStrictEqual(yield* processesWith("sleep 300"), [])
      }).pipe(bounded, Effect.provide(realTrialLayer)),
    IN_THE_MATRIX
  )
})
