/**
 * Ends the stack: first the agents, which still say good-bye over the relay, then the forwarder that carries it.
 */
import { Effect, Result } from "effect"
import type { Supervision } from "../AgentSupervisor.ts"
import type { InstalledStack } from "../StackInstaller.ts"
import { FORWARDER } from "../StackFiles.ts"
import { sweep } from "../Sweep.ts"

export interface SweepStackOptions {
  readonly stack: InstalledStack
  /** Absent when the trial did not get as far as launching anything. */
  readonly supervision: Supervision | undefined
  /** Also ends what agents started as services of the task. */
  readonly all: boolean
}

/** What was left of the stack, and what was left alone. What stands in the way of the agents' end does not in the forwarder's. */
export const sweepStack = Effect.fnUntraced(function* ({ all, stack, supervision }: SweepStackOptions) {
  const started = supervision === undefined ? new Map() : yield* supervision.started
  const roots = [...started.values()]
  const { bin } = stack.layout
  const forwarder = started.get(FORWARDER)
  const agents = yield* Effect.result(
    sweep({ roots, bin, all, ...(forwarder === undefined ? {} : { spare: [forwarder.pid] }) })
  )
  const troubles = Result.isFailure(agents) ? [agents.failure.message] : agents.success.troubles
  if (forwarder === undefined) return yield* Effect.fromResult(agents)
  const last = yield* sweep({ roots, bin, all })
  return { survivors: last.survivors, spared: last.spared, troubles: [...troubles, ...last.troubles] }
})
