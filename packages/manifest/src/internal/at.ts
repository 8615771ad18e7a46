/**
 * The two fields that say where in a document a reason was met.
 */
import { Schema } from "effect"
import { Position } from "../Position.ts"

/** Spread into the fields of a reason. */
export const at = {
  /** The field, as `roster[1].generation.max_output_tokens`; empty for the document itself. */
  path: Schema.String,
  /** Line and column, when the document was a file. */
  position: Schema.optionalKey(Position)
}
