/**
 * Writes the trajectory: the channel as it was seen, and each agent as its logs on this machine tell.
 */
import type { Condition } from "@buzz-orchestra/manifest/Condition"
import { Duration, Effect, FileSystem, Ref, Stream } from "effect"
import type { Accounts } from "../Accounting.ts"
import * as AgentLog from "../AgentLog.ts"
import * as AgentNarrative from "../AgentNarrative.ts"
import { programLog, TRAJECTORY } from "../BundleFiles.ts"
import type { InstalledStack } from "../StackInstaller.ts"
import type { TrialRecord } from "../TrialRecord.ts"
import * as Trajectory from "../Trajectory.ts"
import type { TrialDirectory } from "../TrialDirectory.ts"
import type { TrialOptions } from "../TrialOptions.ts"
import { namesOf } from "./channelView.ts"
import { classOf } from "./accountsOf.ts"

/** The step of the clean-up. */
export const WRITE_TRAJECTORY = "write the trajectory"
/** The agents' logs are read once more. */
export const TRAJECTORY_DEADLINE = Duration.seconds(60)

export interface KeepTrajectory {
  readonly options: TrialOptions
  readonly record: TrialRecord
  readonly directory: TrialDirectory
  readonly events: Trajectory.TrajectoryInput["events"]
  readonly redact: (text: string) => string
}

/** However the trial ended, and however far it came: what was not launched has no trajectory of its own. */
export const keepTrajectory = Effect.fnUntraced(function* (input: KeepTrajectory) {
  const { directory, events, options, record, redact } = input
  const { accounts, handle, outcome, stack, startedAt } = yield* record.facts
  yield* writeTrajectory(directory, {
    trialId: options.trialId,
    condition: options.condition,
    task: options.instruction,
    startedAtMillis: startedAt,
    stack,
    events,
    names: handle === undefined ? new Map() : namesOf(handle),
    agents: handle?.credentials ?? [],
    accounts,
    end: { outcome: outcome?.outcome, detail: outcome?.detail ?? "" },
    redact
  })
})

/** What is known of a trial, beside its logs. */
export interface TrajectoryFacts extends Pick<
  Trajectory.TrajectoryInput,
  "end" | "events" | "names" | "redact" | "startedAtMillis" | "task" | "trialId"
> {
  readonly condition: Condition
  readonly stack: Pick<InstalledStack, "digests"> | undefined
  readonly agents: ReadonlyArray<Pick<Trajectory.TrajectoryAgent, "agentId" | "endpoint" | "kind" | "role">>
  readonly accounts: Accounts | undefined
}

/** Reads the logs and writes the document. */
export const writeTrajectory = Effect.fnUntraced(function* (
  directory: TrialDirectory,
  { accounts, condition, stack, ...facts }: TrajectoryFacts
) {
  const { manifest, sha256 } = condition
  const agents = yield* Effect.forEach(
    facts.agents,
    Effect.fnUntraced(function* ({ agentId, endpoint, kind, role }) {
      const agent: Trajectory.TrajectoryAgent = {
        agentId,
        kind,
        role,
        endpoint,
        modelRevision: classOf(manifest, agentId)?.model_revision ?? "unknown",
        price: manifest.prices[endpoint],
        narrative: yield* narrate(directory, agentId),
        receipt: accounts?.receipts.find(({ agent_id }) => agent_id === agentId)
      }
      return agent
    })
  )
  const trajectory = Trajectory.of({
    ...facts,
    condition: manifest.condition,
    manifestHash: sha256,
    version: stack?.digests["buzz-acp"] ?? "unknown",
    agents,
    totals: accounts?.totals
  })
  yield* directory.writeJson(TRAJECTORY, trajectory)
})

const narrate = Effect.fnUntraced(function* (directory: TrialDirectory, agentId: string) {
  const fs = yield* FileSystem.FileSystem
  const told = yield* Ref.make(AgentNarrative.initial)
  for (const stream of ["stdout", "stderr"] as const) {
    const path = directory.at(programLog(agentId, stream))
    if (!(yield* fs.exists(path))) continue
    const reading = yield* Ref.make([yield* Ref.get(told), AgentLog.initial] as const)
    yield* Stream.runForEach(fs.stream(path), (bytes) => Ref.update(reading, (it) => AgentNarrative.feed(it, bytes)))
    yield* Ref.set(told, AgentNarrative.finish(yield* Ref.get(reading)))
  }
  return yield* Ref.get(told)
})
