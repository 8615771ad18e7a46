/**
 * `timing.json`: how long the parts of a trial took, in seconds. Pure.
 */
import { Schema } from "effect"
import { PHASES } from "./TrialEvent.ts"
import type { PhaseSummary } from "./TrialSummary.ts"

const Seconds = Schema.NullOr(Schema.Finite)

/** The whole document. What did not happen is null. */
export const TrialTiming = Schema.Struct({
  schema_version: Schema.Literal(1),
  started_at: Schema.String,
  ended_at: Schema.String,
  /** From the start of the trial until its bundle was complete but for the last documents. */
  runtime_until_bundle_seconds: Schema.Finite,
  /** From the start of the trial until the task was about to be posted. */
  pre_prompt_seconds: Seconds,
  /** From the posting of the task to the observed end, or to when the budget ran out. */
  agent_active_seconds: Seconds,
  usage_settle_seconds: Seconds,
  phases: Schema.Array(
    Schema.Struct({ phase: Schema.Literals(PHASES), started_at: Schema.String, seconds: Schema.Finite })
  ),
  definitions: Schema.Record(Schema.String, Schema.String)
})
/** The whole document. */
export type TrialTiming = typeof TrialTiming.Type

const DEFINITIONS = {
  runtime_until_bundle_seconds: "start of the trial until everything but summary.json and result.json was written",
  pre_prompt_seconds: "prepare, provision, install, forward, launch and ready",
  agent_active_seconds: "post and observe: the task on its way to the relay until the end was observed",
  usage_settle_seconds: "waiting for usage that agents still owed"
}

const BEFORE_PROMPT: ReadonlySet<string> = new Set(["prepare", "provision", "install", "forward", "launch", "ready"])

/** From the phases of a trial; times are milliseconds since the epoch. */
export const of = (phases: ReadonlyArray<PhaseSummary>, startedAt: number, endedAt: number): TrialTiming => {
  const sum = (holds: (phase: string) => boolean): number | null => {
    const parts = phases.filter(({ phase }) => holds(phase))
    return parts.length === 0 ? null : round(parts.reduce((total, { seconds }) => total + seconds, 0))
  }
  return {
    schema_version: 1,
    started_at: new Date(startedAt).toISOString(),
    ended_at: new Date(endedAt).toISOString(),
    runtime_until_bundle_seconds: round((endedAt - startedAt) / 1000),
    pre_prompt_seconds: sum((phase) => BEFORE_PROMPT.has(phase)),
    agent_active_seconds: sum((phase) => phase === "post" || phase === "observe"),
    usage_settle_seconds: sum((phase) => phase === "settle"),
    phases: phases.map(({ phase, seconds, started_at }) => ({ phase, started_at, seconds })),
    definitions: DEFINITIONS
  }
}

/** Milliseconds are all that was measured. */
const round = (seconds: number): number => Math.round(seconds * 1000) / 1000
