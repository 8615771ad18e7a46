/**
 * A place in a file.
 */
import { Schema } from "effect"

/** Line and column, both from 1; the column counts UTF-16 units, as editors do. */
export const Position = Schema.Struct({ line: Schema.Int, column: Schema.Int })

/** A place in a file. */
export type Position = typeof Position.Type
