/**
 * Who sits where: the agents of a roster by name, in the order in which everything lists them. Pure.
 */
import type { AgentClass } from "@buzz-orchestra/manifest/ExperimentManifest"

/** One agent to be, before it has keys. */
export interface Seat {
  /** `<class-id>-<n>`, n from 1. */
  readonly agentId: string
  readonly kind: "orchestrator" | "worker"
  /** The class's role, or its kind when the role is empty. */
  readonly role: string
  readonly endpoint: string
}

/** The orchestrator's class first, the others as the manifest lists them. */
export const seats = (roster: ReadonlyArray<AgentClass>): ReadonlyArray<Seat> =>
  [...roster.filter(isOrchestrator), ...roster.filter((agentClass) => !isOrchestrator(agentClass))].flatMap(
    (agentClass) =>
      Array.from({ length: agentClass.count }, (_, index) => ({
        agentId: `${agentClass.id}-${index + 1}`,
        kind: agentClass.kind,
        role: agentClass.role || agentClass.kind,
        endpoint: agentClass.endpoint
      }))
  )

/** Name of a trial's channel. `label` is the task's short name, when there is one. */
export const channelName = (trial: {
  readonly trialId: string
  readonly manifestHash: string
  readonly label: string | undefined
}): string => {
  const id = trial.trialId.slice(0, 8)
  return trial.label === undefined ? `trial-${id}-${trial.manifestHash.slice(0, 8)}` : `${trial.label}-${id}`
}

/** What the channel is for, in a form that machines find again. */
export const channelDescription = (trial: {
  readonly runId: string
  readonly trialId: string
  readonly manifestHash: string
}): string => `run=${trial.runId} trial=${trial.trialId} manifest=${trial.manifestHash}`

const isOrchestrator = (agentClass: AgentClass): boolean => agentClass.kind === "orchestrator"
