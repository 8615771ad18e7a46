/**
 * The two published lines of the manifest format.
 *
 * They share most fields and differ in a few; both are read here, and each gives the same condition its own identity.
 */
import { Schema } from "effect"

/** `trunk` is the main line of the format, `study` the long-lived benchmark line. */
export const Dialect = Schema.Literals(["trunk", "study"])

/** One of the two lines of the manifest format. */
export type Dialect = typeof Dialect.Type
