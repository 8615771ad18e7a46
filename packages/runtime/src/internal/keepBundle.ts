/**
 * The last documents of a trial: `timing.json`, `artifacts/manifest.json`, and, once every file was read again for its digest and
 * for secrets, `summary.json` and `result.json`.
 */
import { Clock, Duration, Effect, Option } from "effect"
import { ARTIFACTS, EXCEPTION, RESULT, SUMMARY, TIMING } from "../BundleFiles.ts"
import * as ArtifactManifest from "../ArtifactManifest.ts"
import { type EnvironmentFacts, EnvironmentService } from "../EnvironmentService.ts"
import { exceptionText, type TrialConfig, trialConfig, trialResult } from "../HarborTrial.ts"
import * as Redaction from "../Redaction.ts"
import type { TrialDirectory } from "../TrialDirectory.ts"
import type { TrialOptions } from "../TrialOptions.ts"
import type { TrialRecord } from "../TrialRecord.ts"
import type { TrialSummary } from "../TrialSummary.ts"
import * as TrialTiming from "../TrialTiming.ts"
import { containerSummary } from "./containerSummary.ts"
import { inspectFiles, type Inspection } from "./inspectFiles.ts"
import { scrubbed } from "./scrubbed.ts"
import { summarize, type SummarizedError } from "./summarize.ts"
import { trialRedactor } from "./trialRedactor.ts"

/** A few small files. */
const DOCUMENT_DEADLINE = Duration.seconds(15)
/** Logs of gigabytes are read at more than 100 MB a second. */
const INSPECTION_DEADLINE = Duration.seconds(60)

/** What a trial is to run, for Harbor's tools. */
export const configOf = (options: TrialOptions, facts: EnvironmentFacts, directory: TrialDirectory): TrialConfig => {
  const { manifest, sha256 } = options.condition
  return trialConfig({
    taskName: options.evidenceFor ?? options.channelLabel ?? manifest.condition,
    directory: directory.path,
    runId: options.runId,
    trialId: options.trialId,
    relayUrl: options.relayUrl,
    condition: manifest.condition,
    manifestSha256: sha256,
    modelRevisions: manifest.roster.map(({ model_revision }) => model_revision),
    timeoutSeconds: manifest.trial_budget.timeout_seconds,
    instruction: options.instruction,
    environment: environmentOf(facts),
    evidenceFor: options.evidenceFor,
    apiKeyVariables: Object.values(options.endpoints).map(({ api_key_env }) => api_key_env)
  })
}

const environmentOf = (facts: EnvironmentFacts): TrialSummary["environment"] => {
  const { architecture, container, kind, limitations, name } = facts
  return {
    kind,
    name,
    architecture,
    limitations,
    ...(container === undefined ? {} : { container: containerSummary(container) })
  }
}

export interface KeepBundle {
  readonly options: TrialOptions
  readonly record: TrialRecord
  /** Absent when it could not be opened: then nothing is written. */
  readonly directory: TrialDirectory | undefined
  readonly error: SummarizedError | undefined
}

/** Writes them, each in a step of its own, and returns the summary, written or not. */
export const keepBundle = Effect.fnUntraced(function* ({ directory, error, options, record }: KeepBundle) {
  const { facts: environment } = yield* EnvironmentService
  const { container, ...place } = environmentOf(environment)
  const summaryOf = Effect.fnUntraced(function* (files: ReadonlyArray<string>, inspection: Inspection | undefined) {
    const [facts, endedAt] = [yield* record.facts, yield* Clock.currentTimeMillis]
    const input = { options, environment: place, container, facts, error, endedAt, files, inspection }
    return summarize({ ...input, finishedLater: false })
  })
  if (directory === undefined) return yield* summaryOf([], undefined)
  const { artifacts = "skipped", handle, outcome } = yield* record.facts
  const redactor = trialRedactor(handle, options)
  const scrub = (text: string) => Redaction.apply(redactor, text)
  yield* record.step("write the timing", DOCUMENT_DEADLINE, writeTiming(record, directory))
  const manifest = ArtifactManifest.of(ArtifactManifest.folderOf(environment), artifacts)
  yield* record.step("list the artifacts", DOCUMENT_DEADLINE, directory.writeJson(ARTIFACTS, manifest))
  const exception = exceptionText({ outcome: outcome?.outcome, detail: outcome?.detail, error })
  if (exception !== undefined)
    yield* record.step("write the exception", DOCUMENT_DEADLINE, directory.write(EXCEPTION, scrub(exception)))
  const last = record.closeLog({ _tag: "TrialEnded", outcome: outcome?.outcome, error: error?.message })
  yield* record.step("write the events", DOCUMENT_DEADLINE, last)
  const listing = Effect.map(directory.files, (all) => all.filter((name) => name !== SUMMARY && name !== RESULT))
  const inspecting = Effect.flatMap(listing, (files) =>
    Effect.map(inspectFiles(directory, files, redactor), (inspection) => ({ files, inspection }))
  )
  const read = yield* record.step("read the files again", INSPECTION_DEADLINE, inspecting)
  const inspection = Option.getOrUndefined(read)?.inspection
  for (const { kind, line, path } of inspection?.findings ?? [])
    yield* record.warn(`a secret (${kind}) stands in ${path}, line ${line}`)
  const writing = Effect.gen(function* () {
    const summary = scrubbed(yield* summaryOf(yield* listing, inspection), scrub)
    yield* directory.writeJson(SUMMARY, summary)
    return summary
  })
  const written = yield* record.step("write the summary", DOCUMENT_DEADLINE, writing)
  const summary = Option.isSome(written) ? written.value : yield* summaryOf([], inspection)
  const { accounts } = yield* record.facts
  const result = trialResult({
    summary,
    config: configOf(options, environment, directory),
    receipts: accounts?.receipts ?? [],
    directory: directory.path
  })
  yield* record.step("write the result", DOCUMENT_DEADLINE, directory.writeJson(RESULT, scrubbed(result, scrub)))
  return summary
})

const writeTiming = Effect.fnUntraced(function* (record: TrialRecord, directory: TrialDirectory) {
  const { phases, startedAt } = yield* record.facts
  yield* directory.writeJson(TIMING, TrialTiming.of(phases, startedAt, yield* Clock.currentTimeMillis))
})
