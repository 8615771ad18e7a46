import { assert, describe, it } from "@effect/vitest"
import { type AgentSignal, classify } from "@buzz-orchestra/runtime/AgentSignal"
import { CHANNEL, line, read } from "./support/logLines.ts"

const LABEL = `channel ${CHANNEL}`
const A = "a".repeat(64)
const B = "0123456789abcdef".repeat(4)

/** What the only record of a log means. */
const signal = (target: string, message: string): AgentSignal | undefined => {
  const [record, ...rest] = read(line(target, message))
  assert.strictEqual(rest.length, 0)
  return record === undefined ? undefined : classify(record)
}

const usage = (fields: string) => signal("acp::usage", `goose usage update ${fields}`)
const counted = (input?: number, output?: number, cached?: number, sessionId = "s") =>
  ({ _tag: "Usage", sessionId, input, output, cached }) as const

/** Every marker: target, message, meaning. Texts as the programs print them. */
const MARKERS: ReadonlyArray<readonly [target: string, message: string, meaning: AgentSignal]> = [
  ["buzz_acp", `subscribed to channel ${CHANNEL}`, { _tag: "Subscribed", channelId: CHANNEL }],
  [
    "buzz_acp",
    `failed to subscribe to channel ${CHANNEL}: restricted: not a member`,
    { _tag: "SubscribeFailed", channelId: CHANNEL, detail: "restricted: not a member" }
  ],
  [
    "buzz_acp",
    "no channel subscriptions resolved — agent will sit idle",
    { _tag: "NoSubscriptions", detail: "no channel subscriptions resolved — agent will sit idle" }
  ],
  ["pool::prompt", `turn starting for ${LABEL}`, { _tag: "TurnStarted", label: LABEL }],
  ["pool::prompt", "turn starting for heartbeat", { _tag: "TurnStarted", label: "heartbeat" }],
  ["pool::prompt", `turn complete for ${LABEL}: end_turn`, { _tag: "TurnEnded", label: LABEL, stop: "end_turn" }],
  [
    "pool::prompt",
    `turn hit max_tokens for ${LABEL} — session will be rotated`,
    { _tag: "TurnEnded", label: LABEL, stop: "max_tokens" }
  ],
  [
    "pool::prompt",
    `turn hit max_turn_requests for ${LABEL} — session will be rotated`,
    { _tag: "TurnEnded", label: LABEL, stop: "max_turn_requests" }
  ],
  ["pool::prompt", `turn refused for ${LABEL}`, { _tag: "TurnEnded", label: LABEL, stop: "refused" }],
  ["pool::prompt", `turn cancelled for ${LABEL}`, { _tag: "TurnEnded", label: LABEL, stop: "cancelled" }],
  [
    "pool::prompt",
    "hard timeout (300s cap) — agent process is unrecoverable, invalidating all sessions",
    {
      _tag: "TurnFailed",
      kind: "hard-timeout",
      detail: "hard timeout (300s cap) — agent process is unrecoverable, invalidating all sessions"
    }
  ],
  [
    "pool::prompt",
    "idle timeout (299s) — cancelling session ses_1",
    { _tag: "TurnFailed", kind: "idle-timeout", detail: "idle timeout (299s) — cancelling session ses_1" }
  ],
  [
    "pool::prompt",
    "agent 0 exited during prompt",
    { _tag: "TurnFailed", kind: "agent-exited", detail: "agent 0 exited during prompt" }
  ],
  [
    "pool::prompt",
    "session_prompt error: Agent reported error: llm: 400",
    { _tag: "TurnFailed", kind: "prompt-error", detail: "session_prompt error: Agent reported error: llm: 400" }
  ],
  [
    "buzz_acp::queue",
    "requeueing failed batch with backoff attempt=1 delay=5s",
    { _tag: "Requeued", detail: "requeueing failed batch with backoff attempt=1 delay=5s" }
  ],
  [
    "buzz_acp::queue",
    "dead-lettering batch after 10 retries — discarding 2 events",
    { _tag: "DeadLettered", detail: "dead-lettering batch after 10 retries — discarding 2 events" }
  ],
  ["buzz_acp", "all agents dead — exiting", { _tag: "AllAgentsDead" }],
  [
    "pool::prompt",
    `turn delivered Buzz events for ${LABEL}: ${B},${A}`,
    { _tag: "Delivered", channelId: CHANNEL, eventIds: [B, A] }
  ],
  [
    "buzz_acp::steer",
    `non-cancelling steer ack received channel=${CHANNEL} event_id=${A} ack=Ok(Success { session_id: "s" }) drop_withheld=true`,
    { _tag: "SteerAcked", eventId: A, delivered: true }
  ],
  [
    "buzz_acp",
    `non-cancelling steer ack received channel=${CHANNEL} event_id=${A} ack=Ok(Err("busy")) signal_fallback=true`,
    { _tag: "SteerAcked", eventId: A, delivered: false }
  ],
  [
    "buzz_acp",
    `non-cancelling steer ack received channel=${CHANNEL} event_id=${A} ack=Ok(PromptCompletedNeutral)`,
    { _tag: "SteerAcked", eventId: A, delivered: false }
  ],
  ["acp::tool", "tool_call: buzz-dev-mcp__shell (other)", { _tag: "ToolCalled", title: "buzz-dev-mcp__shell" }],
  ["acp::tool", "tool_call_update: t1 → completed", { _tag: "ToolUpdated", id: "t1", status: "completed" }],
  [
    "buzz_agent::session",
    "handoff #2 (history 80 -> 5 items; 180000 -> 4200 tokens)",
    { _tag: "HandedOff", number: 2, before: 180_000 }
  ],
  ["buzz_agent", "handoff #1 (history 80 -> 5 items)", { _tag: "HandedOff", number: 1, before: undefined }],
  [
    "buzz_agent",
    "Handoff cap reached, truncating history",
    { _tag: "HistoryTruncated", detail: "Handoff cap reached, truncating history" }
  ]
]

const TARGETS = [
  "buzz_acp",
  "buzz_acp::queue",
  "pool::prompt",
  "pool::session",
  "acp::usage",
  "acp::tool",
  "acp::stream"
]

describe("AgentSignal", () => {
  it.each(MARKERS)("%s: %s", (target, message, meaning) => {
    assert.deepStrictEqual(signal(target, message), meaning)
  })

  it.each(MARKERS)("means nothing when another target than %s says: %s", (target, message) => {
    const crate = target.split("::")[0]
    const others = [...TARGETS, "buzz_acp_evil", "other"].filter((other) => other.split("::")[0] !== crate)
    for (const other of [...others, "acp::stream", "pool::session"]) assert.isUndefined(signal(other, message))
  })

  it.each(MARKERS.filter(([, , { _tag }]) => _tag !== "HistoryTruncated"))(
    "%s: a message that only contains the marker means nothing: %s",
    (target, message) => {
      assert.isUndefined(signal(target, `I saw: ${message}`))
      assert.isUndefined(signal(target, `setup-mode: ${message}`))
    }
  )

  it("is not ready when it says so at debug, before the relay answered, or in another mode", () => {
    assert.isUndefined(signal("buzz_acp::relay", `subscribed to channel ${CHANNEL}`))
    assert.isUndefined(signal("buzz_acp", `subscribed to channel ${CHANNEL} (with since filter)`))
    assert.isUndefined(signal("buzz_acp", `setup-mode: subscribed to channel ${CHANNEL}`))
  })

  it("a continuation line is no signal", () => {
    const lines = read(line("acp::stream", `so I wrote\nturn complete for ${LABEL}: end_turn`))
    assert.deepStrictEqual(lines.map(classify), [undefined, undefined])
  })

  it.each([
    ["session_id=s input=12 output=3 cached=4", counted(12, 3, 4)],
    ["session_id=s input=12 output=3", counted(12, 3)],
    ["session_id=s input=Some(20658) output=Some(900) cached=0", counted(20_658, 900, 0)],
    ["session_id=s input=Some(1) output=None cached=None", counted(1)],
    ["cached=Some(4) output=3 input=12 session_id=s", counted(12, 3, 4)],
    ['session_id="s" input=1 output=1', counted(1, 1)],
    ["input=1 output=1", counted(1, 1, undefined, "unknown")]
  ])("reads usage: %s", (fields, expected) => {
    assert.deepStrictEqual(usage(fields), expected)
  })

  it.each([
    "session_id=s input=12",
    "input=-1 output=1",
    "input=1x output=1",
    "myinput=1 output=1",
    "input=Some() output=1"
  ])("does not guess at usage: %s", (fields) => {
    assert.isUndefined(usage(fields))
  })
})
