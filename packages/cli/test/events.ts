/**
 * Events of a small trial for the tests of the view, one constructor per kind; times are milliseconds after its start.
 */
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import type { TrialEvent, TrialHappening } from "@buzz-orchestra/runtime/TrialEvent"
import { initial, type LiveModel, update } from "../src/LiveView.ts"

/** When the trial started: 2026-11-30T02:00:00Z. */
export const START = Date.UTC(2026, 10, 30, 2)

export const at = (millis: number, happening: TrialHappening): TrialEvent => ({
  at: START + millis,
  runId: "run",
  trialId: "trial",
  ...happening
})

export const started: TrialEvent = at(0, {
  _tag: "TrialStarted",
  condition: "demo",
  manifestHash: "f7f11a15e27043a0226d22dff30bea4790586dd308fd4a0431559aed5e78ee5c",
  agentIds: ["lead-1", "implementer-1"],
  timeoutSeconds: 300,
  directory: "/trials/demo"
})

export const note = (content: string, kind = 9): NostrEvent => ({
  id: "0".repeat(64),
  pubkey: "1".repeat(64),
  created_at: 1,
  kind,
  tags: [["h", "channel"]],
  content,
  sig: "2".repeat(128)
})

export const said = (millis: number, author: string, content: string, kind?: number): TrialEvent =>
  at(millis, { _tag: "MessageSeen", author, event: note(content, kind) })

export const modelAfter = (...events: ReadonlyArray<TrialEvent>): LiveModel => events.reduce(update, initial)
