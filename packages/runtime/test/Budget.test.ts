import { conditionWith } from "@buzz-orchestra/manifest/testing/TestManifest"
import { exceeded } from "@buzz-orchestra/runtime/Budget"
import { type CompletionInput, decide, SPENDING_MILLIS } from "@buzz-orchestra/runtime/Completion"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import type { UsageTotals } from "@buzz-orchestra/runtime/Usage"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { awaitEvent, LEAD, readSummary, say, startTrial, trialLayer } from "./support/trial.ts"

const used = (inputTokens: number, outputTokens: number, cachedTokens?: number): UsageTotals => ({
  inputTokens,
  outputTokens,
  cachedTokens,
  sessions: 1,
  complete: true
})

/** A lead with this budget and a worker with none; 3, 0.3 and 15 dollars per million tokens. */
const limited = (budget: object, trial: object = {}) =>
  conditionWith({ roster: [{ id: "lead", budget }, { id: "worker" }], trial_budget: { timeout_seconds: 60, ...trial } })

const verdict = (condition: ReturnType<typeof limited>, lead: UsageTotals | undefined, worker?: UsageTotals) => {
  const totals = [lead, worker]
  const agents = condition.manifest.roster.map((agentClass, index) => ({
    agentId: `${agentClass.id}-1`,
    agentClass,
    totals: totals[index]
  }))
  return exceeded(condition.manifest, agents)
}

describe("a budget", () => {
  it("is used up when it is reached, and says by whom", () => {
    const condition = limited({ max_input_tokens: 1000, max_output_tokens: 50 })
    assert.isUndefined(verdict(condition, undefined))
    assert.isUndefined(verdict(condition, used(999, 49)))
    assert.strictEqual(verdict(condition, used(1000, 0)), "lead-1 used 1000 of 1000 input tokens")
    assert.strictEqual(verdict(condition, used(0, 51)), "lead-1 used 51 of 50 output tokens")
    assert.isUndefined(verdict(condition, used(0, 0), used(5000, 5000)))
  })

  it("of money counts what came from the cache at its own price", () => {
    const condition = limited({ max_cost_usd: 4 })
    assert.isUndefined(verdict(condition, used(1_000_000, 0, 500_000)))
    assert.strictEqual(verdict(condition, used(1_000_000, 66_667)), "lead-1 used 4 of 4 US dollars")
  })

  it("of the whole team counts everybody's", () => {
    const condition = limited({}, { max_cost_usd: 5 })
    assert.isUndefined(verdict(condition, used(1_000_000, 0), used(600_000, 0)))
    assert.strictEqual(verdict(condition, used(1_000_000, 0), used(700_000, 0)), "the team used 5.1 of 5 US dollars")
  })

  it("of money is reached at its last digit, which binary fractions would miss", () => {
    const prices = {
      "test-model": { input_per_million_usd: 0.1, cached_input_per_million_usd: 0, output_per_million_usd: 0 }
    }
    const condition = conditionWith({
      roster: [{ id: "lead" }],
      prices,
      trial_budget: { timeout_seconds: 60, max_cost_usd: 0.3 }
    })
    assert.isUndefined(verdict(condition, used(2_999_999, 0)))
    assert.strictEqual(verdict(condition, used(3_000_000, 0)), "the team used 0.3 of 0.3 US dollars")
  })
})

describe("a decision over a budget that is used up", () => {
  const input: CompletionInput = {
    roster: { agentIds: ["lead-1"], orchestratorId: "lead-1", solo: true },
    states: new Map(),
    done: undefined,
    undelivered: [],
    lastMessageMillis: 0,
    channelReadMillis: 500,
    overBudget: { detail: "lead-1 used 2 of 1 US dollars", sinceMillis: 1000 },
    nowMillis: 2000,
    deadlineMillis: 60_000
  }

  it("waits for a reading of the channel that was begun after it, because the log may be ahead of a DONE:", () => {
    assert.deepInclude(decide(input), { _tag: "Waiting", readChannel: true })
    assert.deepInclude(decide({ ...input, channelReadMillis: undefined }), { _tag: "Waiting", readChannel: true })
  })

  it("does not let a team go on spending because the relay does not answer", () => {
    const unread = { ...input, channelReadMillis: undefined }
    const decision = decide(unread)
    assert.strictEqual(decision._tag === "Waiting" ? decision.recheckAtMillis : 0, 1000 + SPENDING_MILLIS)
    assert.deepInclude(decide({ ...unread, nowMillis: 1000 + SPENDING_MILLIS }), { outcome: "over-budget" })
  })

  it("is over budget after that", () => {
    assert.deepInclude(decide({ ...input, channelReadMillis: 1000 }), { _tag: "Ended", outcome: "over-budget" })
  })
})

describe("a trial whose budget is used up", () => {
  it.effect("is over budget once the channel was read for a last DONE:", () =>
    Effect.gen(function* () {
      const { fiber, options } = yield* startTrial({ condition: limited({ max_output_tokens: 100 }) })
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      const stack = yield* TestStack
      yield* stack.turn("lead-1", { input: 10, output: 99 })
      yield* awaitEvent((event) => event._tag === "UsageSeen" && event.outputTokens === 99)
      assert.isUndefined(fiber.pollUnsafe())
      yield* stack.turn("lead-1", { input: 20, output: 100 })
      const result = yield* Fiber.join(fiber)
      assert.strictEqual(result.outcome, "over-budget")
      assert.deepInclude(yield* readSummary(options.directory), {
        outcome: "over-budget",
        detail: "lead-1 used 100 of 100 output tokens, and lead-1 has not posted DONE:",
        error: null
      })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("is done when the last tokens said so", () =>
    Effect.gen(function* () {
      const { fiber } = yield* startTrial({ condition: limited({ max_output_tokens: 100 }) })
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* say(LEAD, "DONE: just in time")
      yield* TestStack.use((stack) => stack.turn("lead-1", { input: 20, output: 100 }))
      assert.strictEqual((yield* Fiber.join(fiber)).outcome, "done")
    }).pipe(Effect.provide(trialLayer()))
  )
})
