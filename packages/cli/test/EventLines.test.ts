import type { TrialEvent } from "@buzz-orchestra/runtime/TrialEvent"
import { assert, describe, it } from "@effect/vitest"
import { everyLine, lastingLine } from "../src/EventLines.ts"
import { eventLine } from "@buzz-orchestra/runtime/EventLine"
import { exitedLine } from "../src/JsonLines.ts"
import { initial, type LiveModel, update } from "../src/LiveView.ts"
import { PLAIN } from "../src/Style.ts"
import { at, note, said, START, started } from "./events.ts"

const trial: ReadonlyArray<TrialEvent> = [
  started,
  at(0, { _tag: "PhaseStarted", phase: "launch" }),
  at(900, { _tag: "PhaseEnded", phase: "launch", millis: 900, error: undefined }),
  at(1_000, { _tag: "AgentChanged", agentId: "lead-1", view: { _tag: "Ready" } }),
  at(1_100, { _tag: "Waiting", sentence: "waiting for implementer-1", deadlineAt: undefined }),
  at(1_200, { _tag: "Waiting", sentence: "waiting for implementer-1 (lead-1 ready)", deadlineAt: START + 9 }),
  at(1_300, { _tag: "AgentChanged", agentId: "lead-1", view: { _tag: "InTurn", turn: 1, sinceMillis: START + 1_300 } }),
  said(2_000, "lead-1", "@implementer-1 please\nwrite hello.txt"),
  at(2_100, { _tag: "UsageSeen", agentId: "lead-1", inputTokens: 1_200, outputTokens: 34, cachedTokens: 0 }),
  at(2_200, { _tag: "AgentChanged", agentId: "lead-1", view: { _tag: "Idle", turns: 1 } }),
  at(61_000, { _tag: "Warned", detail: "the relay was out of reach for 2 s" }),
  at(62_000, { _tag: "AgentChanged", agentId: "implementer-1", view: { _tag: "Dead", detail: "SIGKILL" } }),
  at(62_100, { _tag: "PhaseEnded", phase: "observe", millis: 60_000, error: "agents died" }),
  said(62_150, "lead-1", "please write hello.txt", 40003),
  said(62_160, "lead-1", "", 9005),
  said(62_170, "lead-1", "", 5),
  at(62_200, { _tag: "OutcomeDecided", outcome: "timed-out", detail: "300 s went by" }),
  at(62_300, { _tag: "PhaseStarted", phase: "sweep" }),
  at(62_400, { _tag: "AgentChanged", agentId: "lead-1", view: { _tag: "Dead", detail: "SIGTERM" } })
]

const linesOf = (lines: typeof everyLine): ReadonlyArray<string> => {
  let model: LiveModel = initial
  return trial.flatMap((event) => {
    const printed = lines(model, event, PLAIN)
    model = update(model, event)
    return printed
  })
}

describe("everyLine", () => {
  it("has one line per change, and none for what did not change", () => {
    assert.deepStrictEqual(linesOf(everyLine), [
      "       0.0 s  demo f7f11a15e27043a0: lead-1, implementer-1",
      "       0.0 s  phase launch",
      "       1.0 s  lead-1 ready",
      "       1.1 s  waiting for implementer-1",
      "       1.3 s  lead-1 in turn 1",
      "       2.0 s  lead-1: @implementer-1 please write hello.txt",
      "       2.2 s  lead-1 idle after 1 turn, 1,234 tokens",
      "  1 min 01 s  warning: the relay was out of reach for 2 s",
      "  1 min 02 s  implementer-1 dead: SIGKILL",
      "  1 min 02 s  observe failed: agents died",
      "  1 min 02 s  lead-1 edited a message: please write hello.txt",
      "  1 min 02 s  lead-1 deleted a message",
      "  1 min 02 s  timed-out: 300 s went by",
      "  1 min 02 s  phase sweep"
    ])
  })
})

describe("lastingLine", () => {
  it("leaves to the live block what the live block shows", () => {
    assert.deepStrictEqual(linesOf(lastingLine), [
      "       0.0 s  demo f7f11a15e27043a0: lead-1, implementer-1",
      "       2.0 s  lead-1: @implementer-1 please write hello.txt",
      "  1 min 01 s  warning: the relay was out of reach for 2 s",
      "  1 min 02 s  implementer-1 dead: SIGKILL",
      "  1 min 02 s  observe failed: agents died",
      "  1 min 02 s  lead-1 edited a message: please write hello.txt",
      "  1 min 02 s  lead-1 deleted a message",
      "  1 min 02 s  timed-out: 300 s went by"
    ])
  })
  it("shortens a message that is longer than a page", () => {
    const [line = ""] = lastingLine(initial, said(0, "lead-1", "x".repeat(10_000)), PLAIN)
    assert.strictEqual(line, `       0.0 s  lead-1: ${"x".repeat(400)}…`)
  })
})

describe("JsonLines", () => {
  it("names the event and the trial, gives the time in UTC and null for what is not known", () => {
    assert.strictEqual(
      eventLine(at(1_500, { _tag: "TrialEnded", outcome: "done", error: undefined })),
      '{"event":"TrialEnded","at":"2026-11-30T02:00:01.500Z","runId":"run","trialId":"trial","outcome":"done","error":null}'
    )
  })
  it("passes a message on as it was signed", () => {
    const line = eventLine(said(0, "lead-1", "a\n\u001bb"))
    assert.notInclude(line, "\n")
    assert.deepStrictEqual(JSON.parse(line), {
      event: "MessageSeen",
      at: "2026-11-30T02:00:00.000Z",
      runId: "run",
      trialId: "trial",
      author: "lead-1",
      message: note("a\n\u001bb")
    })
  })
  it("ends with how the command exits", () => {
    assert.strictEqual(
      exitedLine(START, { exitCode: 12, outcome: "timed-out", directory: "trials/x", error: undefined }),
      '{"event":"Exited","at":"2026-11-30T02:00:00.000Z","exitCode":12,"outcome":"timed-out","directory":"trials/x","error":null}'
    )
  })
})
