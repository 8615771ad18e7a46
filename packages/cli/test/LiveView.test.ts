import { assert, describe, it } from "@effect/vitest"
import { tokens } from "../src/LiveView.ts"
import { at, modelAfter, said, started } from "./events.ts"

const usage = (millis: number, agentId: string, inputTokens: number) =>
  at(millis, { _tag: "UsageSeen", agentId, inputTokens, outputTokens: 1, cachedTokens: undefined })

const died = (millis: number) =>
  at(millis, { _tag: "AgentChanged", agentId: "lead-1", view: { _tag: "Dead", detail: "SIGKILL" } })

describe("LiveView", () => {
  it("starts with the roster, every agent starting", () => {
    const model = modelAfter(started)
    assert.deepStrictEqual(
      model.agents.map(({ agentId, view }) => [agentId, view._tag]),
      [
        ["lead-1", "Starting"],
        ["implementer-1", "Starting"]
      ]
    )
  })
  it("gives something outside the roster a row of its own", () => {
    const model = modelAfter(
      started,
      at(1, { _tag: "AgentChanged", agentId: "relay-forwarder", view: { _tag: "Ready" } })
    )
    assert.deepStrictEqual(
      model.agents.map((row) => row.agentId),
      ["lead-1", "implementer-1", "relay-forwarder"]
    )
  })
  it("knows no tokens until somebody reports, and takes a later report for the earlier one", () => {
    assert.isUndefined(tokens(modelAfter(started)))
    assert.strictEqual(tokens(modelAfter(started, usage(1, "lead-1", 9), usage(2, "lead-1", 19))), 20)
    assert.strictEqual(tokens(modelAfter(started, usage(1, "lead-1", 9), usage(2, "implementer-1", 4))), 15)
  })
  it("takes only messages for messages, not edits and deletions", () => {
    const model = modelAfter(started, said(1, "lead-1", "hello"), said(2, "lead-1", "hello!", 40003))
    assert.strictEqual(model.messages, 1)
    assert.strictEqual(model.lastMessage?.text, "hello")
  })
  it("keeps phases in order and forgets what was waited for when one ends", () => {
    const model = modelAfter(
      started,
      at(1, { _tag: "PhaseStarted", phase: "ready" }),
      at(2, { _tag: "Waiting", sentence: "waiting for lead-1", deadlineAt: undefined }),
      at(3, { _tag: "PhaseEnded", phase: "ready", millis: 2, error: undefined }),
      at(4, { _tag: "PhaseStarted", phase: "post" })
    )
    assert.deepStrictEqual(model.ended, [{ phase: "ready", millis: 2, error: undefined }])
    assert.deepStrictEqual(
      model.open.map(({ phase }) => phase),
      ["post"]
    )
    assert.isUndefined(model.waiting)
  })
  it("keeps an agent's last state when the sweep ends it, and not when it dies before", () => {
    const idle = at(1, { _tag: "AgentChanged", agentId: "lead-1", view: { _tag: "Idle", turns: 1 } })
    const sweep = at(2, { _tag: "PhaseStarted", phase: "sweep" })
    assert.strictEqual(modelAfter(started, idle, sweep, died(3)).agents[0]?.view._tag, "Idle")
    assert.strictEqual(modelAfter(started, idle, died(2), sweep).agents[0]?.view._tag, "Dead")
  })
})
