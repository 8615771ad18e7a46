/**
 * Completes what a killed harness left: everything that can be known from its events, logs and inputs is written, as the trial itself
 * would have written it, and nothing that is there is written over. What the relay knew beyond that is lost.
 */
import type { Condition } from "@buzz-orchestra/manifest/Condition"
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import { Effect, FileSystem, type Path } from "effect"
import * as Bundle from "./Bundle.ts"
import { CONFIG, EVENTS, MANIFEST, RESULT, SUMMARY } from "./BundleFiles.ts"
import { type TrialConfig, trialResult } from "./HarborTrial.ts"
import { inspectFiles } from "./internal/inspectFiles.ts"
import { type LastWords, lastWords } from "./internal/lastWords.ts"
import { lateDocuments } from "./internal/lateDocuments.ts"
import { summarize, type SummarizedError } from "./internal/summarize.ts"
import type { Redactor } from "./Redaction.ts"
import type { TrialSummary } from "./TrialSummary.ts"

/** What was done. */
export interface Finished {
  /** Files that were written, sorted; empty when the bundle was complete. */
  readonly written: ReadonlyArray<string>
  readonly summary: TrialSummary
}

/** The tag under which the summary says that the harness was killed. */
export const HARNESS_KILLED = "HarnessKilled"

/** Completes the bundle in `directory`. `redactor` knows secrets that its files are searched for, besides those of known shapes. */
export const finish = Effect.fn("BundleFinish.finish")(function* (
  directory: string,
  redactor: Redactor
): Effect.fn.Return<Finished, Bundle.BundleUnreadable, FileSystem.FileSystem | Path.Path | ManifestService> {
  const bundle = yield* Bundle.read(directory)
  const finishing = bundle.summary === undefined ? complete(bundle, redactor) : onlyResult(bundle, bundle.summary)
  return yield* Effect.catchTag(finishing, "PlatformError", ({ message }) =>
    Effect.fail(new Bundle.BundleUnreadable({ directory, detail: message }))
  )
})

/** Killed between the last two documents, or not at all. */
const onlyResult = Effect.fnUntraced(function* (bundle: Bundle.Bundle, summary: TrialSummary) {
  const { config, directory, hasResult } = bundle
  const written = hasResult || config === undefined ? [] : [RESULT]
  if (config !== undefined && !hasResult)
    yield* directory.writeJson(
      RESULT,
      trialResult({ summary, config, receipts: bundle.receipts, directory: directory.path })
    )
  return { written, summary }
})

const complete = Effect.fnUntraced(function* (bundle: Bundle.Bundle, redactor: Redactor) {
  const { directory } = bundle
  const config = yield* need(bundle, bundle.config, CONFIG)
  const condition = yield* conditionOf(bundle)
  yield* tidy(bundle)
  const words = lastWords(bundle.events)
  const error = errorOf(words)
  const { accounts, written } = yield* lateDocuments({ bundle, config, condition, words, error })

  const files = (yield* directory.files).filter((name) => name !== SUMMARY && name !== RESULT)
  const inspection = yield* inspectFiles(directory, files, redactor)
  const { channelId } = words
  const { container, ...environment } = config.environment.kwargs
  const summary = summarize({
    options: { ...idsOf(config), condition },
    environment,
    container,
    facts: {
      ...words.facts,
      accounts,
      // One that was written had the relay's last word in it.
      messageCount: bundle.transcript?.message_count ?? words.messages.length,
      ...(channelId === undefined ? {} : { handle: { channelId, credentials: [] } })
    },
    error,
    endedAt: words.endedAt,
    files,
    inspection,
    finishedLater: true
  })
  yield* directory.writeJson(SUMMARY, summary)
  const result = trialResult({ summary, config, receipts: accounts.receipts, directory: directory.path })
  yield* directory.writeJson(RESULT, result)
  return { written: [...written, SUMMARY, RESULT].toSorted(), summary }
})

const need = <A>({ directory }: Bundle.Bundle, value: A | undefined, name: string) =>
  value === undefined
    ? Effect.fail(
        new Bundle.BundleUnreadable({
          directory: directory.path,
          detail: `${name} is missing or malformed: the harness was killed before it began the trial`
        })
      )
    : Effect.succeed(value)

const idsOf = ({ agent }: TrialConfig) => ({
  runId: agent.kwargs.run_id,
  trialId: agent.kwargs.trial_id,
  relayUrl: agent.kwargs.relay_url
})

/** The condition as it was hashed: its identity is that of the text, whatever reading it makes of it. */
const conditionOf = Effect.fnUntraced(function* (bundle: Bundle.Bundle) {
  const manifests = yield* ManifestService
  const { canonical, dialect, sha256, value } = yield* need(bundle, bundle.manifest, MANIFEST)
  const condition = yield* Effect.mapError(
    manifests.load(value, { dialect }),
    ({ message }) =>
      new Bundle.BundleUnreadable({ directory: bundle.directory.path, detail: `${MANIFEST}: ${message}` })
  )
  const same: Condition = { ...condition, canonical, sha256 }
  return same
})

/** Removes what was not written to its end. Lines before a torn one are kept as they are. */
const tidy = Effect.fnUntraced(function* ({ directory, isTorn, unfinished }: Bundle.Bundle) {
  const fs = yield* FileSystem.FileSystem
  for (const name of unfinished) yield* fs.remove(directory.at(name))
  if (!isTorn) return
  const text = yield* fs.readFileString(directory.at(EVENTS))
  yield* directory.write(EVENTS, text.slice(0, text.lastIndexOf("\n") + 1))
})

/** A trial whose outcome was decided has it, and its clean-up is what is missing; any other ended with its harness. */
const errorOf = ({ endedAt, facts, open }: LastWords): SummarizedError | undefined => {
  if (facts.outcome !== undefined) return undefined
  const phase = open.at(-1) ?? facts.phases.at(-1)?.phase ?? "prepare"
  const when = new Date(endedAt).toISOString()
  return {
    phase,
    reason: HARNESS_KILLED,
    message: `the harness ended in the phase ${phase}, after ${when}, without a word`
  }
}
