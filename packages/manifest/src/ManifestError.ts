/**
 * What can go wrong with a manifest, a pinned artifact, a roster's credentials, an endpoints file or a
 * task's fixture file.
 *
 * One wrapper, `ManifestError`, around one closed union of tagged reasons. A reason's `message` says what is wrong and
 * what to do; the wrapper puts in front where it is. The reasons themselves are grouped in sibling modules by what
 * meets them.
 */
import { Schema } from "effect"
import { ArtifactReason } from "./ArtifactReason.ts"
import { CredentialReason } from "./CredentialReason.ts"
import { DocumentReason } from "./DocumentReason.ts"
import { EndpointLaunchReason } from "./EndpointLaunchReason.ts"
import { FieldReason } from "./FieldReason.ts"
import { ManifestRuleReason } from "./ManifestRuleReason.ts"

export { ManifestWarning } from "./ManifestRuleReason.ts"

/** Every reason a `ManifestError` can have. */
export const ManifestReason = Schema.Union([
  ...DocumentReason.members,
  ...FieldReason.members,
  ...ManifestRuleReason.members,
  ...ArtifactReason.members,
  ...CredentialReason.members,
  ...EndpointLaunchReason.members
])

/** Every reason a `ManifestError` can have. */
export type ManifestReason = typeof ManifestReason.Type

/** What was asked of the package when it failed. */
export const ManifestOperation = Schema.Literals([
  "load",
  "verify artifact",
  "map credentials",
  "load endpoints",
  "load fixture"
])

/** What was asked of the package when it failed. */
export type ManifestOperation = typeof ManifestOperation.Type

/**
 * A request to this package failed. `reason` is the first problem in the order of the document, `others` are further
 * ones found in the same reading, so that a person can mend them all at once.
 */
export class ManifestError extends Schema.TaggedError<ManifestError>()("ManifestError", {
  operation: ManifestOperation,
  /** The file, when there is one. */
  source: Schema.optionalKey(Schema.String),
  reason: ManifestReason,
  others: Schema.optionalKey(Schema.Array(ManifestReason))
}) {
  /** Wraps the reasons of a pure module, of which there is at least one. */
  static fromReasons(
    operation: ManifestOperation,
    reasons: ReadonlyArray<ManifestReason>,
    source?: string
  ): ManifestError {
    const [reason, ...others] = reasons
    return new ManifestError({
      operation,
      reason: reason!,
      ...(source === undefined ? {} : { source }),
      ...(others.length === 0 ? {} : { others })
    })
  }

  override get message(): string {
    const reasons = [this.reason, ...(this.others ?? [])]
    const lines = reasons.slice(0, MAX_LINES).map((reason) => `${locate(reason, this.source)}${reason.message}`)
    return [...lines, ...(reasons.length > MAX_LINES ? [`and ${reasons.length - MAX_LINES} more`] : [])].join("\n")
  }
}

/** How many reasons a message spells out. */
const MAX_LINES = 10

/** What stands before a reason's sentence: `file:line:column: field: `, as much of it as is known. */
const locate = (reason: ManifestReason, source: string | undefined): string => {
  const place = "position" in reason && reason.position !== undefined ? reason.position : undefined
  const at = place === undefined ? "" : `:${place.line}:${place.column}`
  const file = source === undefined ? "" : `${source}${at}: `
  return file + ("path" in reason && reason.path !== "" ? `${reason.path}: ` : "")
}
