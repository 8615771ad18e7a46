/**
 * Where everything lies that a trial leaves behind, relative to the trial directory. At its root is what Harbor's tools look for;
 * what this runtime adds is the bundle, below Harbor's folder for agents, where the stack's own tools look for it. Pure.
 */
import type { LogStream } from "./LoggedAgent.ts"
import type { Phase } from "./TrialEvent.ts"

/** The folder of the bundle. */
export const BUNDLE = "agent/buzz"

/** Where a file of the bundle lies that has this name in it. */
export const inBundle = (name: string): string => `${BUNDLE}/${name}`

/** The name in the bundle of a file of the trial directory; `undefined` of one that is not in it. */
export const bundleName = (file: string): string | undefined =>
  file.startsWith(`${BUNDLE}/`) ? file.slice(BUNDLE.length + 1) : undefined

/** What was to run, for Harbor's tools: the first document. */
export const CONFIG = "config.json"
/** What became of it, for Harbor's tools: the last document of all. */
export const RESULT = "result.json"
/** Every event, for people. */
export const TRIAL_LOG = "trial.log"
/** What ended the trial, where that was no outcome of its own; Harbor's tools look for it. */
export const EXCEPTION = "exception.txt"
/** The trial in ATIF, where Harbor's tools look for it. */
export const TRAJECTORY = "agent/trajectory.json"
/** What became of the task's artifacts, as Harbor lists them. */
export const ARTIFACTS = "artifacts/manifest.json"
/** Harbor mirrors a source below `artifacts`: of `/logs/artifacts`, which it always collects, the copy is here. */
export const COLLECTED = "artifacts/logs/artifacts"
/** Where verifiers put a reward. */
export const VERIFIER = "verifier"

/** The condition as it was hashed. */
export const MANIFEST = inBundle("manifest.json")
/** How endpoints were configured, without any value. */
export const ENDPOINTS = inBundle("endpoints.redacted.json")
/** Every event, for programs. */
export const EVENTS = inBundle("events.ndjson")
/** What each agent used and cost. */
export const RECEIPTS = inBundle("receipts.jsonl")
/** Who said what. */
export const TRANSCRIPT = inBundle("transcript.json")
/** What verifiers grade of what happened on the relay. */
export const EVIDENCE = inBundle("buzz-evidence.json")
/** Why there is no such evidence, or not all of it. */
export const EVIDENCE_ERROR = inBundle("buzz-evidence-error.txt")
/** How long each part took. */
export const TIMING = inBundle("timing.json")
/** Everything in one document: the last of the bundle. */
export const SUMMARY = inBundle("summary.json")
/** The folder of the logs of phases. */
export const PHASE_LOGS = inBundle("phases")

/** The name in the bundle, and below the layout's `prompts`, of an agent's composed prompt. */
export const promptName = (agentId: string): string => `${agentId}.system-prompt.md`

/** The log of a phase, for people. */
export const phaseLog = (phase: Phase): string => `${PHASE_LOGS}/${phase}.log`

/** What a program of the stack printed, secrets taken out. */
export const programLog = (program: string, stream: LogStream): string => inBundle(`${program}.${stream}.log`)
