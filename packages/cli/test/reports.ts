/** A report of a trial, for what shows reports. */
import type { TrialReport } from "../src/TrialReport.ts"

const agent = (agent_id: string, cost_usd: number): TrialReport["agents"][number] => ({
  agent_id,
  kind: "worker",
  role: "implementer",
  endpoint: "model",
  state: "idle",
  turns: 1,
  input_tokens: 1_234_567,
  output_tokens: 8_901,
  cached_tokens: 0,
  cost_usd,
  messages: 1
})

const NAMES = ["user", "lead-1", ...Array.from({ length: 8 }, (_, index) => `implementer-${index + 1}`)]

const LONG = "a-word-without-an-end-".repeat(12)

/** A team of nine in which everybody said something, in one thread; names and words are long. */
export const report: TrialReport = {
  directory: "trials/x",
  condition: `condition-${LONG}`,
  trial_id: "x",
  manifest_sha256: "a".repeat(64),
  environment: "local sandbox (bwrap)",
  started_at: "2026-11-30T06:59:47.918Z",
  seconds: 20,
  outcome: "timed-out",
  verdict: "agent-timeout",
  reward: null,
  detail: "60 s have passed",
  error: { phase: "observe", reason: "RelayLost", message: LONG },
  agents: NAMES.slice(1).map((name, index) => agent(name, index / 100)),
  messages: NAMES.map((author, index) => ({
    id: `${index}`.padStart(64, "0"),
    at: index,
    author,
    to: ["lead-1"],
    content: index === 0 ? "write it" : `<b>${LONG}</b>\nsecond line`,
    reply_to: index === 0 ? null : `${index - 1}`.padStart(64, "0")
  })),
  turns: NAMES.slice(1).map((agent_id, index) => ({ agent_id, turn: 1, from: index, to: index + 5 })),
  phases: [{ phase: "observe", seconds: 20, error: null }],
  input_tokens: 1_234_567,
  output_tokens: 8_901,
  cached_tokens: null,
  cost_usd: null,
  cost_at_least_usd: 0.28,
  anomalies: [`warning: ${LONG}`, "never woken: implementer-8"]
}
