/**
 * Ends the stack: first the agents, which still say good-bye over the relay, then the forwarder that carries it.
 */
import { Effect } from "effect"
import type { AgentUser } from "../AgentUsers.ts"
import type { Supervision } from "../AgentSupervisor.ts"
import type { InstalledStack } from "../StackInstaller.ts"
import { FORWARDER } from "../StackFiles.ts"
import { sweep } from "../Sweep.ts"

export interface SweepStackOptions {
  readonly stack: InstalledStack
  /** Absent when the trial did not get as far as launching anything. */
  readonly supervision: Supervision | undefined
  /** The agents' own users, where they have some. */
  readonly users?: ReadonlyArray<AgentUser>
  /** Also ends what agents started as services of the task. */
  readonly all: boolean
  /** The forwarder is left running for a later trial. Default false. */
  readonly keepForwarder?: boolean
  /** Told of each call that did not work. */
  readonly warn: (trouble: string) => Effect.Effect<void>
}

/** What was left of the stack, and what was left alone. What stands in the way of the agents' end does not in the forwarder's. */
export const sweepStack = Effect.fnUntraced(function* (options: SweepStackOptions) {
  const { all, keepForwarder, stack, supervision, users = [], warn } = options
  const started = supervision === undefined ? new Map() : yield* supervision.started
  const everything = { roots: [...started.values()], bin: stack.layout.bin, all, users, warn }
  const forwarder = started.get(FORWARDER)
  if (forwarder === undefined) return yield* sweep(everything)
  const withoutForwarder = sweep({ ...everything, spare: [forwarder.pid] })
  if (keepForwarder === true) return yield* withoutForwarder
  yield* Effect.ignore(withoutForwarder)
  return yield* sweep(everything)
})
