import { assert, describe, it } from "@effect/vitest"
import { width } from "../src/internal/terminalText.ts"
import type { LiveModel } from "../src/LiveView.ts"
import { render } from "../src/Render.ts"
import { COLOURED, PLAIN } from "../src/Style.ts"
import { at, modelAfter, said, START, started } from "./events.ts"

const working: LiveModel = modelAfter(
  started,
  at(100, { _tag: "PhaseStarted", phase: "observe" }),
  at(200, { _tag: "AgentChanged", agentId: "lead-1", view: { _tag: "InTurn", turn: 2, sinceMillis: START + 200 } }),
  at(300, { _tag: "AgentChanged", agentId: "implementer-1", view: { _tag: "Idle", turns: 1 } }),
  at(400, {
    _tag: "UsageSeen",
    agentId: "implementer-1",
    inputTokens: 1200,
    outputTokens: 34,
    cachedTokens: undefined
  }),
  said(9_400, "lead-1", "@implementer-1 please write hello.txt"),
  at(9_500, { _tag: "Waiting", sentence: "waiting for lead-1 to say DONE:", deadlineAt: START + 300_100 })
)

const frame = (columns: number, millis: number, rows = 24) => ({
  columns,
  rows,
  now: START + millis,
  style: PLAIN
})

describe("render", () => {
  it("shows phase, agents, last message, tokens, time left and what is waited for", () => {
    assert.deepStrictEqual(render(working, frame(64, 12_500)), [
      "demo  observe for 12 s             1,234 tokens, 4 min 47 s left",
      "  lead-1         in turn 2 for 12 s",
      "  implementer-1  idle after 1 turn                  1,234 tokens",
      "last message 3 s ago: lead-1: @implementer-1 please write hello…",
      "waiting for lead-1 to say DONE:"
    ])
  })
  it("says dead and requeued with the reason", () => {
    const model = modelAfter(
      started,
      at(1, { _tag: "AgentChanged", agentId: "lead-1", view: { _tag: "Dead", detail: "exit code 1" } }),
      at(2, {
        _tag: "AgentChanged",
        agentId: "implementer-1",
        view: { _tag: "Requeued", turns: 2, detail: "hard\ntimeout" }
      })
    )
    assert.deepStrictEqual(render(model, frame(60, 1_000)), [
      "demo  ",
      "  lead-1         dead: exit code 1",
      "  implementer-1  requeued after 2 turns: hard timeout",
      "no message yet",
      ""
    ])
  })
  it("gives the sentence that says what is waited for as many lines as it needs, but not the whole page", () => {
    const sentence =
      "waiting for lead-1 to post DONE: (lead-1 idle, implementer-1 in turn 1; undelivered: a mention of lead-1)"
    const model = modelAfter(started, at(1, { _tag: "Waiting", sentence, deadlineAt: undefined }))
    assert.deepStrictEqual(render(model, frame(60, 1_000)).slice(4), [
      "waiting for lead-1 to post DONE: (lead-1 idle, implementer-1",
      "in turn 1; undelivered: a mention of lead-1)"
    ])
    assert.deepStrictEqual(render(model, frame(30, 1_000)).slice(4), [
      "waiting for lead-1 to post",
      "DONE: (lead-1 idle,",
      "implementer-1 in turn 1; unde…"
    ])
  })
  it("says something before the trial has started", () => {
    assert.deepStrictEqual(render(modelAfter(), frame(40, 0)), ["preparing …"])
  })
  it("never writes a line wider than the terminal, in colour or not", () => {
    for (let columns = 1; columns <= 90; columns++) {
      for (const style of [PLAIN, COLOURED]) {
        for (const line of render(working, { ...frame(columns, 12_500), style })) {
          assert.isAtMost(width(line), columns, `${columns} columns: ${line}`)
        }
      }
    }
  })
  it("never fills the terminal's height, and says how many agents it left out", () => {
    const agentIds = Array.from({ length: 40 }, (_, index) => `worker-${index + 1}`)
    const model = modelAfter({ ...started, agentIds } as typeof started)
    const lines = render(model, frame(60, 0, 10))
    assert.strictEqual(lines.length, 7)
    assert.strictEqual(lines[4], "  … and 37 more agents")
    assert.isBelow(render(model, frame(60, 0, 2)).length, 2)
  })
  it("cannot be made to print what an agent hides in a message", () => {
    const escape = String.fromCodePoint(0x1b)
    const model = modelAfter(started, said(1, "lead-1", `${escape}[2Jwiped\u202e`))
    assert.include(render(model, frame(80, 1_000)), "last message 0 s ago: lead-1: wiped")
  })
})
