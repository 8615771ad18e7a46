/**
 * What the span of a trial says of it. Pure.
 */
import type { TrialOptions } from "../TrialOptions.ts"
import type { TrialSummary } from "../TrialSummary.ts"

/** Known from the start. */
export const began = ({ condition, runId, trialId }: TrialOptions): Readonly<Record<string, string>> => ({
  "buzz.run_id": runId,
  "buzz.trial_id": trialId,
  "buzz.condition": condition.manifest.condition,
  "buzz.manifest_sha256": condition.sha256
})

/** Known at the end. What is unknown is left out: a number that is missing is not zero. */
export const ended = ({ detail, outcome, totals, verdict }: TrialSummary): Readonly<Record<string, string | number>> =>
  Object.fromEntries(
    Object.entries({
      "buzz.outcome": outcome,
      "buzz.verdict": verdict,
      "buzz.detail": detail,
      "buzz.cost_usd": totals.cost_usd,
      "gen_ai.usage.input_tokens": totals.input_tokens,
      "gen_ai.usage.output_tokens": totals.output_tokens,
      "gen_ai.usage.cache_read.input_tokens": totals.cached_tokens
    }).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
  )
