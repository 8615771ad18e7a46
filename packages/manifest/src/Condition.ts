/**
 * A condition: the immutable input of an experiment, with its identity.
 */
import { Result } from "effect"
import { canonicalText } from "./CanonicalForm.ts"
import type { Dialect } from "./Dialect.ts"
import type { ManifestDocument } from "./DocumentNode.ts"
import type { ExperimentManifest } from "./ExperimentManifest.ts"
import { placeOf } from "./internal/fieldReasons.ts"
import type { ManifestReason } from "./ManifestError.ts"
import { decodeFields } from "./ManifestFields.ts"
import type { ManifestWarning } from "./ManifestRuleReason.ts"
import { brokenRules, brokenStudyRules, fieldsWithoutEffect } from "./ManifestRules.ts"
import { sha256 } from "./Sha256.ts"

/** What reading a manifest returns. Two conditions are the same exactly when their `sha256` is. */
export interface Condition {
  /** The manifest with its defaults filled in. */
  readonly manifest: ExperimentManifest
  /** The dialect it was read as: given by the caller, or found from what the document uses. */
  readonly dialect: Dialect
  /** 64 lower-case hex digits: sha256 over the UTF-8 bytes of `canonical`. */
  readonly sha256: string
  /** The canonical JSON text, byte for byte what the Python harness hashes. */
  readonly canonical: string
  /** What is allowed but probably not meant. */
  readonly warnings: ReadonlyArray<ManifestWarning>
  /** Whether the whole roster is one agent. */
  readonly isSolo: boolean
  /** The absolute path of the file it was read from; absent when it was a decoded value. */
  readonly source?: string
  /** The directory of `source`; pinned artifacts lie relative to it unless the caller has another root. */
  readonly directory?: string
}

/**
 * Validates and identifies a document. Fields are checked first, each on its own, then the rules between them; every
 * problem of the stage that fails is returned, in the order of the document when it was a file.
 */
export const fromDocument = (
  document: ManifestDocument,
  dialect?: Dialect
): Result.Result<Condition, ReadonlyArray<ManifestReason>> => {
  const fields = decodeFields(document, dialect)
  if (Result.isFailure(fields)) return Result.fail(inDocumentOrder(fields.failure))
  const { manifest, dialect: found } = fields.success
  const place = (path: ReadonlyArray<string | number>) => placeOf(document, path)
  const study = brokenStudyRules(manifest, place)
  const broken = [...brokenRules(manifest, place), ...(found === "study" ? study : [])]
  if (broken.length > 0) return Result.fail(inDocumentOrder(broken))
  const canonical = canonicalText(document.root, found)
  return Result.succeed({
    manifest,
    dialect: found,
    sha256: sha256(canonical),
    canonical,
    warnings: inDocumentOrder([...study, ...fieldsWithoutEffect(manifest, place)]),
    isSolo: manifest.roster.reduce((sum, { count }) => sum + count, 0) === 1
  })
}

const inDocumentOrder = <R extends ManifestReason | ManifestWarning>(reasons: ReadonlyArray<R>): ReadonlyArray<R> => {
  const place = (reason: R) => ("position" in reason ? reason.position : undefined)
  return reasons.toSorted((a, b) => {
    const [x, y] = [place(a), place(b)]
    return x === undefined || y === undefined ? 0 : x.line - y.line || x.column - y.column
  })
}
