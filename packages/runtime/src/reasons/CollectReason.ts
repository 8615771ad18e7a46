/**
 * What can go wrong while a trial's evidence is collected, so badly that the trial must not be scored.
 */
import { Schema } from "effect"

/** The evidence that the task's verifier grades could not be exported. */
export class EvidenceNotExported extends Schema.TaggedError<EvidenceNotExported>()("EvidenceNotExported", {
  /** Where it should be, inside the environment. */
  path: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return (
      `${this.path} could not be exported: ${this.detail}. ` +
      "The verifier would grade an absence as a wrong answer: this trial must not be scored"
    )
  }
}

/** Everything that collecting can meet. */
export const CollectReason = Schema.Union([EvidenceNotExported])

/** Everything that collecting can meet. */
export type CollectReason = typeof CollectReason.Type
