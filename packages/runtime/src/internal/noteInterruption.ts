/**
 * An interruption is an outcome as well: whoever stopped the trial must find it in the summary.
 */
import { Effect, Exit } from "effect"
import type { TrialRecord } from "../TrialRecord.ts"

/** Records the outcome of a trial that was interrupted before it had one. */
export const noteInterruption = Effect.fnUntraced(function* (record: TrialRecord, exit: Exit.Exit<unknown, unknown>) {
  const { outcome } = yield* record.facts
  if (outcome !== undefined || !Exit.hasInterrupts(exit)) return
  const detail = "the trial was interrupted"
  yield* record.learn({ outcome: { outcome: "interrupted", detail } })
  yield* record.publish({ _tag: "OutcomeDecided", outcome: "interrupted", detail })
})
