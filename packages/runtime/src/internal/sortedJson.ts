/**
 * JSON that is the same for the same value, whoever built it: keys of every object in alphabetical order, indented by two, with
 * a newline at the end. Pure.
 */

/** The text of a document. */
export const sortedJson = (value: unknown): string => `${JSON.stringify(sorted(value), undefined, 2)}\n`

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, entry]) => [key, sorted(entry)])
  )
}
