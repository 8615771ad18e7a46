/**
 * The environments that `--environment` names. A new one is a name here, its layer in `Environments`, and nothing else in
 * this package.
 */

/** What `--environment` takes. */
export const ENVIRONMENTS = ["local"] as const

/** One of `ENVIRONMENTS`. */
export type EnvironmentName = (typeof ENVIRONMENTS)[number]
