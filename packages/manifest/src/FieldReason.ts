/**
 * Reasons that concern one field: unknown, missing, or with a value it does not take.
 */
import { Schema } from "effect"
import { Dialect } from "./Dialect.ts"
import { at } from "./internal/at.ts"

/** A key that the format, or the dialect the manifest is read as, does not know. */
export class FieldUnknown extends Schema.TaggedError<FieldUnknown>()("FieldUnknown", {
  ...at,
  /** The dialect that does know the field, when one does. */
  knownTo: Schema.optionalKey(Dialect),
  /** A known field of the same mapping that is spelled nearly so. */
  suggestion: Schema.optionalKey(Schema.String),
  /** Set for a document that has no `metadata`, where everything may stand. */
  isClosed: Schema.optionalKey(Schema.Boolean)
}) {
  override get message(): string {
    if (this.knownTo !== undefined) {
      return `unknown field: only the ${this.knownTo} dialect has it; remove it, or read the manifest as ${this.knownTo}`
    }
    if (this.suggestion === undefined && this.isClosed === true) return "unknown field: remove it"
    return this.suggestion === undefined
      ? "unknown field: remove it, or move it into `metadata`"
      : `unknown field: did you mean \`${this.suggestion}\`?`
  }
}

/** A field without a default is absent. */
export class FieldMissing extends Schema.TaggedError<FieldMissing>()("FieldMissing", {
  ...at,
  expected: Schema.String,
  /** Set when only this dialect requires the field. */
  requiredBy: Schema.optionalKey(Dialect)
}) {
  override get message(): string {
    const who = this.requiredBy === undefined ? "" : ` in the ${this.requiredBy} dialect`
    return `required${who} but missing: add ${this.expected}`
  }
}

/** A field with a value it does not take. Nothing is coerced: `"3"` is text, `yes` is a boolean. */
export class FieldInvalid extends Schema.TaggedError<FieldInvalid>()("FieldInvalid", {
  ...at,
  expected: Schema.String,
  found: Schema.String,
  /** How to write what was probably meant. */
  advice: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    const advice = this.advice === undefined ? "" : `: ${this.advice}`
    return `expected ${this.expected}, found ${this.found}${advice}`
  }
}

/** What belongs to both dialects in one manifest. `path` is the field that only trunk has. */
export class DialectsMixed extends Schema.TaggedError<DialectsMixed>()("DialectsMixed", {
  ...at,
  /** The path of what only the study dialect has or allows. */
  study: Schema.String,
  /** Whether that is something left out. */
  leftOut: Schema.Boolean
}) {
  override get message(): string {
    const other = this.leftOut
      ? `leaving out ${this.study} is only allowed in the study dialect: remove this or add that`
      : `${this.study} is the study dialect's: remove one of the two`
    return `only the trunk dialect has this field, but ${other}`
  }
}

/** Reasons that concern one field. */
export const FieldReason = Schema.Union([FieldUnknown, FieldMissing, FieldInvalid, DialectsMixed])

/** Reasons that concern one field. */
export type FieldReason = typeof FieldReason.Type
