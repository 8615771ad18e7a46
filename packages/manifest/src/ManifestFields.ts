/**
 * Decodes a document into a manifest: every field known, present and of its type, all of one dialect.
 */
import { Result, Schema } from "effect"
import { type Dialect, type DialectField, dialectOf, dialectUse } from "./Dialect.ts"
import type { ManifestDocument } from "./DocumentNode.ts"
import { ExperimentManifest } from "./ExperimentManifest.ts"
import { DialectsMixed, FieldInvalid, FieldMissing, type FieldReason, FieldUnknown } from "./FieldReason.ts"
import { renderPath } from "./FieldPath.ts"
import { fieldReasons, placeOf } from "./internal/fieldReasons.ts"
import { plainManifest } from "./internal/plainValue.ts"

/** A manifest whose fields are in order, with the dialect it was read as. */
export interface DecodedManifest {
  readonly manifest: ExperimentManifest
  readonly dialect: Dialect
}

const decode = Schema.decodeUnknownResult(ExperimentManifest, { errors: "all", onExcessProperty: "error" })

/** Decodes the document as `dialect`, or as the dialect that what it uses tells. Every problem found is returned. */
export const decodeFields = (
  document: ManifestDocument,
  dialect?: Dialect
): Result.Result<DecodedManifest, ReadonlyArray<FieldReason>> => {
  const decoded = decode(plainManifest(document.root))
  const reasons = [
    ...dialectReasons(document, dialect),
    ...(Result.isFailure(decoded) ? fieldReasons(decoded.failure.issue, document) : [])
  ]
  return Result.isSuccess(decoded) && reasons.length === 0
    ? Result.succeed({ manifest: decoded.success, dialect: dialect ?? dialectOf(dialectUse(document)) })
    : Result.fail(reasons)
}

const dialectReasons = (document: ManifestDocument, dialect: Dialect | undefined): ReadonlyArray<FieldReason> => {
  const { trunkOnly, studyOnly, leftOut, nulls } = dialectUse(document)
  const unknown = (knownTo: Dialect) => (field: DialectField) =>
    new FieldUnknown({ ...placeOf(document, field.path, "key"), knownTo })
  switch (dialect) {
    case "study":
      return trunkOnly.map(unknown("trunk"))
    case "trunk":
      return [
        ...studyOnly.map(unknown("study")),
        ...leftOut.map(
          ({ path }) =>
            new FieldMissing({ ...placeOf(document, path), expected: requiredOf(path), requiredBy: "trunk" })
        ),
        ...nulls.map(
          ({ path }) => new FieldInvalid({ ...placeOf(document, path), expected: requiredOf(path), found: "null" })
        )
      ]
    default: {
      const [first] = [...studyOnly, ...nulls, ...leftOut]
      if (first === undefined) return []
      const study = { study: renderPath(first.path), leftOut: leftOut.includes(first) }
      return trunkOnly.map(({ path }) => new DialectsMixed({ ...placeOf(document, path, "key"), ...study }))
    }
  }
}

const requiredOf = (path: DialectField["path"]): string =>
  path.at(-1) === "generation" ? "a mapping" : "a whole number above 0"
