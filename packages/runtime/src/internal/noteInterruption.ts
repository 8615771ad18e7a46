/**
 * An interruption is an outcome as well: whoever stopped the trial must find it in the summary.
 */
import { Cause, Effect, Exit } from "effect"
import type { TrialRecord } from "../TrialRecord.ts"

/** Records the outcome of a trial that was interrupted before it had one. One that failed first keeps its error. */
export const noteInterruption = Effect.fnUntraced(function* (record: TrialRecord, exit: Exit.Exit<unknown, unknown>) {
  const { outcome } = yield* record.facts
  if (outcome !== undefined || Exit.isSuccess(exit) || !Cause.hasInterruptsOnly(exit.cause)) return
  const detail = "the trial was interrupted"
  yield* record.learn({ outcome: { outcome: "interrupted", detail } })
  yield* record.publish({ _tag: "OutcomeDecided", outcome: "interrupted", detail })
})
