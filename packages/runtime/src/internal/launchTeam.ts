/**
 * The phase `launch`: all agents of a team at once, each as the user that it is to have.
 */
import { Effect, Ref } from "effect"
import type { AgentLaunch, Supervision } from "../AgentSupervisor.ts"
import { DEFAULT_AGENT_USERS } from "../AgentUsers.ts"
import { inPhase } from "../RuntimeLaunchError.ts"
import type { InstalledStack } from "../StackInstaller.ts"
import type { TrialRun } from "../TrialRuntime.ts"
import { composeLaunches, type Member } from "./composeTeam.ts"
import { separateAgents } from "./separateAgents.ts"
import type { Stage } from "./stage.ts"

export interface LaunchTeamOptions {
  readonly run: TrialRun
  readonly stage: Ref.Ref<Stage>
  readonly stack: InstalledStack
  readonly supervision: Supervision
  readonly members: ReadonlyArray<Member>
}

/** Returns once all are running. The scope ends them. */
export const launchTeam = Effect.fnUntraced(function* (options: LaunchTeamOptions) {
  const { members, run, stack, supervision } = options
  const users = yield* Effect.mapError(separate(options), (reason) => inPhase("launch")(reason))
  const launches = yield* composeLaunches(run.trial, run.handle, stack, members, users)
  const failed = yield* Ref.make<ReadonlyArray<{ readonly message: string }>>([])
  const launchOne = (agent: AgentLaunch) =>
    Effect.tapError(supervision.launch(agent), (reason) => Ref.update(failed, (all) => [...all, reason]))
  yield* Effect.forEach(launches, launchOne, { concurrency: "unbounded", discard: true }).pipe(
    // One that failed waits for the others, and an interruption that comes meanwhile would take its place.
    Effect.onInterrupt(() =>
      Effect.flatMap(
        Ref.get(failed),
        Effect.forEach(({ message }) => run.record.warn(message))
      )
    ),
    Effect.mapError((reason) => inPhase("launch")(reason))
  )
})

/** Users of their own, once the task's files are there. */
const separate = Effect.fnUntraced(function* ({ members, run, stack, stage }: LaunchTeamOptions) {
  const agentIds = members.map(({ credential }) => credential.agentId)
  const asked = run.trial.options.agentUsers ?? DEFAULT_AGENT_USERS
  const agentUsers = yield* separateAgents({ asked, agentIds, layout: stack.layout })
  yield* run.record.learn({ agentUsers })
  yield* Ref.update(stage, (before) => ({ ...before, users: [...agentUsers.users.values()] }))
  return agentUsers.users
})
