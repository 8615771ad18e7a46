/**
 * The environments that `--environment` names. A new one is a name here, its flags in `EnvironmentRequest`, and its layer in
 * `Environments`.
 */

/** What `--environment` takes. */
export const ENVIRONMENTS = ["local", "docker", "plain"] as const

/** One of `ENVIRONMENTS`. */
export type EnvironmentName = (typeof ENVIRONMENTS)[number]
