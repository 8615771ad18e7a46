import type { AgentSignal } from "@buzz-orchestra/runtime/AgentSignal"
import * as Settlement from "@buzz-orchestra/runtime/Settlement"
import { assert, describe, it } from "@effect/vitest"

const START: AgentSignal = { _tag: "TurnStarted", label: "channel c" }
const END: AgentSignal = { _tag: "TurnEnded", label: "channel c", stop: "end_turn" }
const FAIL: AgentSignal = { _tag: "TurnFailed", kind: "prompt-error", detail: "session_prompt error: x" }
const USAGE: AgentSignal = { _tag: "Usage", sessionId: "s", input: 1, output: 1, cached: undefined }

const after = (...signals: ReadonlyArray<AgentSignal>): boolean => {
  let starts = 0
  return signals.reduce((settlement, signal) => {
    if (signal._tag === "TurnStarted") starts += 1
    return Settlement.heard(settlement, signal, starts)
  }, Settlement.initial).owes
}

describe("Settlement", () => {
  it("owes nothing before it was woken", () => {
    assert.isFalse(after())
    assert.isFalse(after({ _tag: "Subscribed", channelId: "c" }))
  })

  it("owes the usage of each turn until one was reported since its start", () => {
    assert.isTrue(after(START))
    assert.isFalse(after(START, USAGE))
    assert.isTrue(after(START, END))
    assert.isFalse(after(START, END, USAGE))
    assert.isFalse(after(START, USAGE, END))
    assert.isTrue(after(START, USAGE, END, START))
    assert.isTrue(after(START, USAGE, END, START, END))
    assert.isTrue(after(START, USAGE, END, START, FAIL))
  })

  it("goes by the ends of turns where a build logs no starts", () => {
    assert.isTrue(after(END))
    assert.isFalse(after(USAGE, END))
    assert.isFalse(after(END, USAGE))
    assert.isTrue(after(USAGE, END, END))
    assert.isFalse(after(USAGE, END, USAGE, END))
    assert.isTrue(after(END, USAGE, END))
    assert.isFalse(after(END, USAGE, END, USAGE))
  })
})
