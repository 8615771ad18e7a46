/**
 * JSON with the keys of every object in alphabetical order, as the real program prints it. Pure.
 */

/** One line. */
export const print = (value: unknown): string => JSON.stringify(sorted(value))

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, sorted(field)])
  )
}
