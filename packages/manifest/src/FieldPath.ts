/**
 * The way from the root of a document to one of its values.
 */

import { shorten } from "./internal/shorten.ts"

/** Keys of mappings and indices of lists, outermost first. */
export type FieldPath = ReadonlyArray<string | number>

/** As in `roster[1].generation.max_output_tokens` or `prices["moonshotai/kimi-k3"]`; empty for the root. */
export const renderPath = (path: FieldPath): string => path.map((key, index) => renderStep(key, index === 0)).join("")

const renderStep = (key: string | number, first: boolean): string => {
  if (typeof key === "number") return `[${key}]`
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(key)) return `[${JSON.stringify(shorten(key))}]`
  return first ? key : `.${key}`
}
