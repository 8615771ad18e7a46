/**
 * The documents that a trial writes when it has ended, drawn up from what a killed harness left: its inputs, events and logs.
 */
import type { Condition } from "@buzz-orchestra/manifest/Condition"
import { Effect, type FileSystem, type PlatformError } from "effect"
import * as Accounting from "../Accounting.ts"
import * as ArtifactManifest from "../ArtifactManifest.ts"
import type { Bundle } from "../Bundle.ts"
import * as Files from "../BundleFiles.ts"
import { exceptionText, type TrialConfig } from "../HarborTrial.ts"
import * as Receipt from "../Receipt.ts"
import * as TrialTiming from "../TrialTiming.ts"
import { accountAgents } from "./accountAgents.ts"
import { evidence } from "./evidence.ts"
import { writeTrajectory } from "./keepTrajectory.ts"
import type { LastWords } from "./lastWords.ts"
import { sortedJson } from "./sortedJson.ts"
import type { SummarizedError } from "./summarize.ts"
import { transcript } from "./transcript.ts"

export interface LateDocuments {
  readonly bundle: Bundle
  readonly config: TrialConfig
  readonly condition: Condition
  readonly words: LastWords
  readonly error: SummarizedError | undefined
}

/** Writes those that are not there, and returns their names and the accounts. */
export const lateDocuments = Effect.fnUntraced(function* (late: LateDocuments) {
  const { bundle, condition, words } = late
  const agents = yield* accountAgents(bundle.directory, condition.manifest, words)
  const accounts = Accounting.of(agents, "the harness was killed")
  const missing = [...documentsOf(late, accounts)].filter(([name]) => !bundle.files.includes(name))
  for (const [, write] of missing) yield* write
  return { accounts, written: missing.map(([name]) => name) }
})

type Writing = Effect.Effect<void, PlatformError.PlatformError, FileSystem.FileSystem>

const documentsOf = (late: LateDocuments, accounts: Accounting.Accounts): ReadonlyMap<string, Writing> => {
  const { bundle, config, error, words } = late
  const { directory, files } = bundle
  const { facts } = words
  const receipts = accounts.receipts.map((receipt) => `${Receipt.toLine(receipt)}\n`).join("")
  const exception = exceptionText({ outcome: facts.outcome?.outcome, detail: facts.outcome?.detail, error })
  const graded = config.agent.kwargs.evidence_for
  const isExported = files.includes(Files.EVIDENCE)
  return new Map([
    [Files.RECEIPTS, directory.write(Files.RECEIPTS, receipts, { mode: 0o600 })],
    [Files.TRANSCRIPT, directory.write(Files.TRANSCRIPT, sortedJson(transcript(saidIn(words))))],
    ...(graded === undefined || isExported
      ? []
      : [
          [Files.EVIDENCE, directory.write(Files.EVIDENCE, sortedJson(evidenceOf(late, graded)))] as const,
          [Files.EVIDENCE_ERROR, directory.write(Files.EVIDENCE_ERROR, EVIDENCE_LACKS)] as const
        ]),
    [Files.TRAJECTORY, trajectoryOf(late, accounts)],
    [Files.TIMING, directory.writeJson(Files.TIMING, TrialTiming.of(facts.phases, facts.startedAt, words.endedAt))],
    [Files.ARTIFACTS, directory.writeJson(Files.ARTIFACTS, artifactsOf(files))],
    ...(exception === undefined ? [] : [[Files.EXCEPTION, directory.write(Files.EXCEPTION, exception)] as const])
  ])
}

/** Events are written without secrets. */
const asItIs = (text: string): string => text

/** Nobody asked the relay for the rest. */
const saidIn = ({ channelId, facts, messages, names, people }: LastWords) => ({
  channelId: channelId ?? "",
  events: messages,
  names,
  people,
  taskEventId: facts.taskEvent?.id,
  complete: false,
  redact: asItIs
})

/** Whoever grades it sees by `truncated` that it is not all. */
const evidenceOf = ({ config, words }: LateDocuments, taskName: string) =>
  evidence({
    ...saidIn(words),
    taskName,
    runId: config.agent.kwargs.run_id,
    trialId: config.agent.kwargs.trial_id,
    completionMessageId: words.facts.completion?.id,
    directory: [],
    scripted: [],
    observedChannels: []
  })

const EVIDENCE_LACKS = `the harness was killed: ${Files.bundleName(Files.EVIDENCE)} was drawn up later, from the events that it wrote.
It has the identities of the user and the team, the task, and the messages that were seen until then, and says truncated.
directory, scripted_events and observed_channels are empty because they are not known. It never was in the environment.
`

const trajectoryOf = ({ bundle, condition, config, error, words }: LateDocuments, accounts: Accounting.Accounts) => {
  const { agents, facts, messages, names } = words
  return writeTrajectory(bundle.directory, {
    trialId: config.agent.kwargs.trial_id,
    condition,
    task: config.extra_instructions.join("\n"),
    startedAtMillis: facts.startedAt,
    stack: facts.stack,
    events: messages,
    names,
    agents,
    accounts,
    end: { outcome: facts.outcome?.outcome, detail: facts.outcome?.detail ?? error?.message ?? "" },
    redact: asItIs
  })
}

/** A harness that was killed as it collected them may have had only some. Where they were is the convention's. */
const artifactsOf = (files: ReadonlyArray<string>) =>
  ArtifactManifest.of(
    "/logs/artifacts",
    files.some((name) => name.startsWith(`${Files.COLLECTED}/`)) ? "failed" : "skipped"
  )
