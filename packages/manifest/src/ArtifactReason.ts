/**
 * Reasons for which a pinned artifact cannot be trusted.
 */
import { Schema } from "effect"

/** The file cannot be opened or read. */
export class ArtifactUnreadable extends Schema.TaggedError<ArtifactUnreadable>()("ArtifactUnreadable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    return `cannot read the pinned file ${this.file}: check the artifact root and the path in the manifest`
  }
}

/** The file is not the one that was pinned; both digests are 64 lower-case hex digits. */
export class ArtifactMismatch extends Schema.TaggedError<ArtifactMismatch>()("ArtifactMismatch", {
  file: Schema.String,
  expected: Schema.String,
  actual: Schema.String
}) {
  override get message(): string {
    return (
      `hash mismatch for ${this.file}: expected sha256 ${this.expected}, found ${this.actual}; ` +
      "restore the pinned file, or pin the new one and get a new condition"
    )
  }
}

/** Reasons for which a pinned artifact cannot be trusted. */
export const ArtifactReason = Schema.Union([ArtifactUnreadable, ArtifactMismatch])

/** Reasons for which a pinned artifact cannot be trusted. */
export type ArtifactReason = typeof ArtifactReason.Type
