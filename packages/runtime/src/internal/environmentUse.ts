/**
 * Which trial uses an environment. A trial owns its environment's stack: its sweep ends what runs from there, and names, pids
 * and logs lie in one place, so a second one in it would be silently wrong.
 */
import { Effect } from "effect"
import type { EnvironmentService } from "../EnvironmentService.ts"

/** A trial by name, and where it writes to. */
export interface EnvironmentUser {
  readonly runId: string
  readonly trialId: string
  readonly directory: string
}

/** By instance and not by layer: several layers of trials may be built over one environment. */
const users = new WeakMap<EnvironmentService["Service"], EnvironmentUser>()

/**
 * Notes `user` as the one trial in `environment` for as long as `use` runs. `use` is given the trial that is in it already, or
 * `undefined`.
 */
export const using = <A, E, R>(
  environment: EnvironmentService["Service"],
  user: EnvironmentUser,
  use: (other: EnvironmentUser | undefined) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const other = users.get(environment)
      if (other === undefined) users.set(environment, user)
      return other
    }),
    use,
    (other) => Effect.sync(() => void (other === undefined && users.delete(environment)))
  )
