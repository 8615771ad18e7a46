import { OUTCOMES } from "@buzz-orchestra/runtime/TrialEvent"
import * as Verdict from "@buzz-orchestra/runtime/Verdict"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { EnvironmentLost } from "../src/EnvironmentError.ts"
import { readSummary, runToDone, startTrial, trialLayer } from "./support/trial.ts"

const of = (fields: Partial<Verdict.Judged>) =>
  Verdict.of({ outcome: undefined, error: undefined, grading: undefined, ...fields })

describe("a verdict", () => {
  it("is the verifier's where there is one, and a full reward passes after any outcome", () => {
    for (const outcome of OUTCOMES.filter((it) => it !== "interrupted")) {
      assert.strictEqual(of({ outcome, grading: { reward: 1 } }), "passed")
      assert.strictEqual(
        of({ outcome, grading: { reward: 0.99 } }),
        outcome === "timed-out" ? "agent-timeout" : "failed"
      )
    }
  })

  it("is not that of the team when the verifier broke, or gave no number", () => {
    for (const reward of [undefined, Number.NaN, Number.POSITIVE_INFINITY])
      assert.strictEqual(of({ outcome: "done", grading: { reward } }), "verifier-broken")
  })

  it("without a verifier says that nobody graded, or that time ran out", () => {
    assert.strictEqual(of({ outcome: "done" }), "unscored")
    assert.strictEqual(of({ outcome: "over-budget" }), "unscored")
    assert.strictEqual(of({ outcome: "timed-out" }), "agent-timeout")
  })

  it("tells what was asked for from what broke", () => {
    const error = (phase: string, reason: string) => of({ error: { phase, reason } })
    assert.strictEqual(error("prepare", "PromptUnreadable"), "launch-failed")
    assert.strictEqual(error("ready", "AgentsNotReady"), "launch-failed")
    assert.strictEqual(error("ready", "AgentsDied"), "launch-failed")
    assert.strictEqual(error("observe", "AgentsDied"), "infra")
    assert.strictEqual(
      error("install", new EnvironmentLost({ environment: "e", detail: "d", exitCode: 1 })._tag),
      "infra"
    )
    assert.strictEqual(error("provision", "RelayStepFailed"), "infra")
    assert.strictEqual(error("collect", "EvidenceNotExported"), "infra")
    assert.strictEqual(error("unknown", "Defect"), "infra")
    assert.strictEqual(error("verify-output", "OutputProbeFailed"), "failed")
  })

  it("is nobody's when somebody stopped the trial, whatever it failed with by then", () => {
    assert.strictEqual(of({ outcome: "interrupted", grading: { reward: 1 } }), "cancelled")
    assert.strictEqual(of({ outcome: "interrupted", error: { phase: "observe", reason: "RelayLost" } }), "cancelled")
  })

  it("enters an average when it says something about the team", () => {
    assert.deepStrictEqual([...Verdict.COUNTED], ["passed", "failed", "agent-timeout"])
  })
})

describe("the summary's verdict", () => {
  it.effect("stands beside outcome and reward", () =>
    Effect.gen(function* () {
      const { options } = yield* runToDone()
      const summary = yield* readSummary(options.directory)
      assert.deepInclude(summary, { outcome: "done", verdict: "unscored", reward: null })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("is launch-failed when the trial could not be prepared", () =>
    Effect.gen(function* () {
      const { fiber, options } = yield* startTrial({ maxAgentRounds: -1 })
      yield* Effect.exit(Fiber.join(fiber))
      assert.deepInclude(yield* readSummary(options.directory), { outcome: null, verdict: "launch-failed" })
    }).pipe(Effect.provide(trialLayer()))
  )
})
