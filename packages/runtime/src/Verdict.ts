/**
 * What a trial counts as: apart from its outcome, which says how the observation ended, and from the reward, which a verifier
 * gives. Only some verdicts enter an average; a trial that says nothing about the team is not a bad result of it. Pure.
 */
import type { ProvisioningReason } from "@buzz-orchestra/relay/ProvisioningError"
import type { RuntimeLaunchReason } from "./RuntimeLaunchError.ts"
import type { Outcome } from "./TrialEvent.ts"

/**
 * `launch-failed`: what was asked for could not be launched. `infra`: the machine, the environment, the relay or the stack
 * broke. `verifier-broken`: the verifier did, or its reward is no number. `unscored`: nobody graded it.
 */
export const VERDICTS = [
  "passed",
  "failed",
  "agent-timeout",
  "launch-failed",
  "infra",
  "verifier-broken",
  "unscored",
  "cancelled"
] as const
/** What a trial counts as. */
export type Verdict = (typeof VERDICTS)[number]

/** Verdicts that enter an average; how many others there are is to be said beside it. */
export const COUNTED: ReadonlySet<Verdict> = new Set(["passed", "failed", "agent-timeout"])

/** The full reward: every dimension that a verifier grades is met. */
export const FULL_REWARD = 1

/** What a verifier gave. `undefined` as a reward means that it broke before it gave any; a missing one is not zero. */
export interface Grading {
  readonly reward: number | undefined
}

/** What is known of a trial that has ended. */
export interface Judged {
  readonly outcome: Outcome | undefined
  /** The error that it ended with; `reason` is the reason's tag. */
  readonly error: { readonly phase: string; readonly reason: string } | undefined
  /** `undefined` when nobody graded it. */
  readonly grading: Grading | undefined
}

/** What the trial counts as. A trial that ran out of time may have a reward all the same, and a full one counts. */
export const of = ({ error, grading, outcome }: Judged): Verdict => {
  if (outcome === "interrupted") return "cancelled"
  if (error !== undefined) return ofError(error)
  if (outcome === undefined) return "cancelled"
  if (grading === undefined) return outcome === "timed-out" ? "agent-timeout" : "unscored"
  if (grading.reward === undefined || !Number.isFinite(grading.reward)) return "verifier-broken"
  if (grading.reward >= FULL_REWARD) return "passed"
  return outcome === "timed-out" ? "agent-timeout" : "failed"
}

type ReasonTag = RuntimeLaunchReason["_tag"] | ProvisioningReason["_tag"]

/** Reasons that say nothing about what was asked for, in whatever phase they are met. */
const INFRA: ReadonlySet<string> = new Set<ReasonTag>([
  "CommandNotRun",
  "EnvironmentBusy",
  "EnvironmentLost",
  "EnvironmentNotCreated",
  "EvidenceNotExported",
  "HandleStoreFailed",
  "ObservationRefused",
  "RelayLost",
  "RelayNotAnswering",
  "RelayStepFailed",
  "TaskNotAccepted",
  "TransferFailed",
  "TrialDirectoryUnwritable"
])

/** A team that finished without the output that its condition asks for. */
const FAILED: ReadonlySet<string> = new Set<ReasonTag>(["OutputProbeFailed"])

/** Phases before the team works. What breaks in a later one, the stack included, was there and worked before. */
const LAUNCHING: ReadonlySet<string> = new Set([
  "prepare",
  "provision",
  "install",
  "forward",
  "launch",
  "ready",
  "post"
])

const ofError = ({ phase, reason }: NonNullable<Judged["error"]>): Verdict => {
  if (FAILED.has(reason)) return "failed"
  return !INFRA.has(reason) && LAUNCHING.has(phase) ? "launch-failed" : "infra"
}
