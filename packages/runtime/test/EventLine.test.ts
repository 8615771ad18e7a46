import * as EventLine from "@buzz-orchestra/runtime/EventLine"
import type { TrialEvent } from "@buzz-orchestra/runtime/TrialEvent"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const NAMES = { runId: "run", trialId: "trial" }

describe("EventLine", () => {
  it("has the event's name first, its times, and null where there is no value", () => {
    const event: TrialEvent = { at: 1500, ...NAMES, _tag: "TrialEnded", outcome: undefined, error: "it broke" }
    assert.strictEqual(
      EventLine.eventLine(event, 1.25),
      '{"event":"TrialEnded","at":"1970-01-01T00:00:01.500Z","elapsed":1.25,"runId":"run","trialId":"trial","outcome":null,"error":"it broke"}'
    )
    assert.notInclude(EventLine.eventLine(event), "elapsed")
  })

  it.prop(
    "is read as it was written",
    {
      at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4e12 })),
      text: Schema.String,
      elapsed: Schema.Natural
    },
    ({ at, elapsed, text }) => {
      const message = { id: "a", pubkey: "b", created_at: 1, kind: 9, tags: [["h", text]], content: text, sig: "c" }
      const events: ReadonlyArray<TrialEvent> = [
        { at, ...NAMES, _tag: "Warned", detail: text },
        { at, ...NAMES, _tag: "MessageSeen", author: text, event: message as never },
        { at, ...NAMES, _tag: "AgentChanged", agentId: "lead-1", view: { _tag: "InTurn", turn: 1, sinceMillis: 0 } }
      ]
      for (const event of events)
        assert.deepEqual(EventLine.parse(EventLine.eventLine(event, elapsed)), { event, elapsed })
    }
  )

  it.each([
    "",
    "{}",
    "[]",
    '{"event":"Warned","at":"never","elapsed":1}',
    '{"event":"Warned","at":"2026-01-01T00:00:00Z"}'
  ])("refuses a line that is none: %s", (line) => {
    assert.throws(() => EventLine.parse(line))
  })
})
