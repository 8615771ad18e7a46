import { conditionWith } from "@buzz-orchestra/manifest/testing/TestManifest"
import { EnvironmentError, EnvironmentLost } from "@buzz-orchestra/runtime/EnvironmentError"
import { Receipt } from "@buzz-orchestra/runtime/Receipt"
import { exited, RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import { RECEIPTS } from "@buzz-orchestra/runtime/BundleFiles"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem, Schema } from "effect"
import { TestClock } from "effect/testing"
import { line } from "./support/logLines.ts"
import { awaitEvent, CHANNEL, LEAD, readSummary, say, startTrial, trialLayer } from "./support/trial.ts"

const receiptsIn = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const lines = (yield* fs.readFileString(`${directory}/${RECEIPTS}`)).trimEnd().split("\n")
  return yield* Effect.forEach(lines, (text) => Schema.decodeUnknownEffect(Schema.fromJsonString(Receipt))(text))
})

const lost = new EnvironmentError({
  operation: "EnvironmentService.watch",
  reason: new EnvironmentLost({ environment: "recording", detail: "the watch was killed", exitCode: undefined })
})

describe("the accounts of a trial", () => {
  it.effect("have a receipt for every agent, for its owner's eyes only, and sums in the summary", () =>
    Effect.gen(function* () {
      const { fiber, options } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* TestStack.use((stack) => stack.turn("lead-1", { input: 1_000_000, output: 100_000 }))
      yield* awaitEvent(({ _tag }) => _tag === "UsageSeen")
      yield* say(LEAD, "DONE: it is there")
      const { summary } = yield* Fiber.join(fiber)
      const receipts = yield* receiptsIn(options.directory)
      assert.deepStrictEqual(
        receipts.map(({ agent_id, cost_usd, measurement }) => [agent_id, measurement, cost_usd]),
        [
          ["lead-1", "measured", 4.5],
          ["worker-1", "idle", 0]
        ]
      )
      assert.deepInclude(summary.totals, { input_tokens: 1_000_000, output_tokens: 100_000, cost_usd: 4.5 })
      assert.deepInclude(summary.accounting, { reconciled: true, idle_agents: ["worker-1"] })
      assert.deepInclude(summary.agents[0], { cost_usd: 4.5, measurement: "measured" })
      const { mode } = yield* FileSystem.FileSystem.use((fs) => fs.stat(`${options.directory}/${RECEIPTS}`))
      assert.strictEqual(mode & 0o777, 0o600)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("price a lone agent that stops without DONE:", () =>
    Effect.gen(function* () {
      const { fiber } = yield* startTrial({ condition: conditionWith({ roster: [{ id: "lead" }] }) })
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* TestStack.use((stack) => stack.turn("lead-1", { input: 1000, output: 100 }))
      yield* awaitEvent((event) => event._tag === "AgentChanged" && event.view._tag === "Idle")
      yield* TestClock.adjust("2 seconds")
      const { outcome, summary } = yield* Fiber.join(fiber)
      assert.strictEqual(outcome, "stopped-without-done")
      assert.strictEqual(summary.totals.cost_usd, 0.0045)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("do not take silence for nothing, and name the limits that it escapes", () =>
    Effect.gen(function* () {
      const condition = conditionWith({
        roster: [{ id: "lead", budget: { max_cost_usd: 1 } }, { id: "worker" }],
        trial_budget: { timeout_seconds: 60, max_cost_usd: 5 }
      })
      const { fiber } = yield* startTrial({ condition, settleTimeout: 0 })
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      const stack = yield* TestStack
      yield* stack.log("lead-1", "pool::prompt", `turn starting for channel ${CHANNEL}`)
      yield* stack.log("lead-1", "pool::prompt", `turn complete for channel ${CHANNEL}: end_turn`)
      yield* awaitEvent((event) => event._tag === "AgentChanged" && event.view._tag === "Idle")
      yield* say(LEAD, "DONE: it is there")
      const { summary } = yield* Fiber.join(fiber)
      assert.deepInclude(summary.totals, { input_tokens: null, cost_usd: null })
      assert.deepInclude(summary.accounting, { reconciled: false, unmeasured_agents: ["lead-1"] })
      assert.deepStrictEqual(
        summary.unenforced.map(({ field }) => field),
        ["roster[0].budget.max_cost_usd", "trial_budget.max_cost_usd"]
      )
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("count what the watch did not deliver", () =>
    Effect.gen(function* () {
      const environment = yield* RecordingEnvironment
      const { fiber, options } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      const log = [
        line("pool::prompt", `turn starting for channel ${CHANNEL}`),
        line("acp::usage", "goose usage update session_id=s input=Some(2000) output=Some(100) cached=0", {
          level: "DEBUG"
        })
      ].join("\n")
      yield* environment.writeFile("/opt/buzz/logs/lead-1.stdout.log", `${log}\n`)
      yield* environment.answer((command) =>
        command.includes("for f in *.log") ? exited(0, { stdout: "size 5000 lead-1.stdout.log\n" }) : undefined
      )
      yield* environment.failWatch(lost)
      yield* Effect.flip(Fiber.join(fiber))
      const [lead] = yield* receiptsIn(options.directory)
      assert.deepInclude(lead, {
        turns: 1,
        input_tokens: 2000,
        output_tokens: 100,
        cost_usd: 0.0075,
        in_turn_at_end: true
      })
      const { accounting } = yield* readSummary(options.directory)
      assert.deepInclude(accounting, { reconciled: true, interrupted_agents: ["lead-1"] })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("are not reconciled when nobody knows how the logs go on", () =>
    Effect.gen(function* () {
      const environment = yield* RecordingEnvironment
      const { fiber, options } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* TestStack.use((stack) => stack.turn("lead-1"))
      yield* awaitEvent(({ _tag }) => _tag === "UsageSeen")
      yield* environment.answer((command) => (command.includes("for f in *.log") ? Effect.fail(lost) : undefined))
      yield* environment.failWatch(lost)
      yield* Effect.flip(Fiber.join(fiber))
      const { accounting } = yield* readSummary(options.directory)
      assert.isFalse(accounting.reconciled)
      assert.match(accounting.note, /logs may end early: .*the watch was killed/)
      assert.strictEqual(accounting.at_least.input_tokens, 100)
    }).pipe(Effect.provide(trialLayer()))
  )
})
