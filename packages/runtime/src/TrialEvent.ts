/**
 * What happens in a trial, as it happens: for the live view, for `--json`, and for embedding programs.
 */
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"

/** The phases of a trial, in their order. `settle`, `sweep` and `collect` happen whatever went before. */
export const PHASES = [
  "prepare",
  "provision",
  "install",
  "forward",
  "launch",
  "ready",
  "post",
  "observe",
  "verify-output",
  "settle",
  "sweep",
  "collect"
] as const
/** One phase of a trial. */
export type Phase = (typeof PHASES)[number]

/** How the observation ended. Absent when the launch failed: the error stands there. */
export const OUTCOMES = [
  "done",
  "stopped-without-done",
  "quiescent",
  "timed-out",
  "over-budget",
  "interrupted"
] as const
/** How the observation of a trial ended. */
export type Outcome = (typeof OUTCOMES)[number]

/** An agent as a person sees it. */
export type AgentView =
  | { readonly _tag: "Starting" }
  | { readonly _tag: "Ready" }
  | { readonly _tag: "InTurn"; readonly turn: number; readonly sinceMillis: number }
  | { readonly _tag: "Idle"; readonly turns: number }
  | { readonly _tag: "Requeued"; readonly turns: number; readonly detail: string }
  | { readonly _tag: "Dead"; readonly detail: string }

/** The names of a trial. Together they tell it from every other. */
export interface TrialNames {
  readonly runId: string
  readonly trialId: string
}

/** A happening of one trial: `at` is in milliseconds since the epoch. */
export type TrialEvent = { readonly at: number } & TrialNames & TrialHappening

/** What happened, without the time of it and the trial it was in. */
export type TrialHappening =
  | {
      readonly _tag: "TrialStarted"
      readonly condition: string
      readonly manifestHash: string
      readonly agentIds: ReadonlyArray<string>
      readonly timeoutSeconds: number
      readonly directory: string
    }
  | { readonly _tag: "PhaseStarted"; readonly phase: Phase }
  | { readonly _tag: "PhaseEnded"; readonly phase: Phase; readonly millis: number; readonly error: string | undefined }
  /** The trial's identities and channel exist. All of it is public. */
  | {
      readonly _tag: "Provisioned"
      readonly channelId: string
      readonly user: { readonly name: string; readonly pubkey: string }
      readonly agents: ReadonlyArray<ProvisionedAgent>
    }
  /** sha256 of each program, as verified inside the environment. */
  | { readonly _tag: "StackInstalled"; readonly digests: Readonly<Record<string, string>> }
  /** From now on `what` may take so long. */
  | { readonly _tag: "DeadlineSet"; readonly what: string; readonly millis: number }
  /** `what` took longer than it may, and was given up or ended. */
  | { readonly _tag: "DeadlinePassed"; readonly what: string; readonly millis: number }
  /** The relay made somebody try again; each attempt is told. */
  | { readonly _tag: "Retried"; readonly detail: string }
  /** One step of the clean-up is over. */
  | { readonly _tag: "StepEnded"; readonly step: string; readonly millis: number; readonly error: string | undefined }
  | { readonly _tag: "AgentChanged"; readonly agentId: string; readonly view: AgentView }
  | { readonly _tag: "MessageSeen"; readonly author: string; readonly event: NostrEvent }
  | {
      readonly _tag: "UsageSeen"
      readonly agentId: string
      readonly inputTokens: number
      readonly outputTokens: number
      readonly cachedTokens: number | undefined
    }
  /** The sentence that says what is being waited for. */
  | { readonly _tag: "Waiting"; readonly sentence: string; readonly deadlineAt: number | undefined }
  /** Something went wrong that the trial survives: a retried query, a failed cleanup step, a [S] rule broken in trunk. */
  | { readonly _tag: "Warned"; readonly detail: string }
  | { readonly _tag: "OutcomeDecided"; readonly outcome: Outcome; readonly detail: string }
  | {
      readonly _tag: "Swept"
      readonly survivors: ReadonlyArray<SweptProcess>
      readonly spared: ReadonlyArray<SweptProcess>
    }
  /** What the trial cost, in US dollars: `costUsd` is unknown where one agent's part is, and `atLeastUsd` what is known at all. */
  | {
      readonly _tag: "Accounted"
      readonly costUsd: number | undefined
      readonly atLeastUsd: number
      readonly reconciled: boolean
      readonly note: string
    }
  | { readonly _tag: "TrialEnded"; readonly outcome: Outcome | undefined; readonly error: string | undefined }

/** An agent as it was provisioned. */
export interface ProvisionedAgent {
  readonly agentId: string
  readonly kind: "orchestrator" | "worker"
  readonly role: string
  readonly endpoint: string
  readonly pubkey: string
}

/** A process the sweep met. `command` is its arguments, redacted. */
export interface SweptProcess {
  readonly pid: number
  readonly command: string
  /** TCP ports it listens on, where that is known. */
  readonly ports?: ReadonlyArray<number>
}
