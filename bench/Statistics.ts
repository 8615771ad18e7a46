/**
 * What is said of a set of measurements. Pure.
 */

/** The smallest value that a share `q` (0 to 1) of the values does not exceed; `NaN` of none. */
export const quantile = (values: ReadonlyArray<number>, q: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN
}

/** The middle value; of an even number the mean of the two in the middle. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]]
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2
}
