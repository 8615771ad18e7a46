/**
 * Checks a bundle again, offline: that its documents are what they should be and agree with each other, that every file has its
 * digest, that the accounts follow from the logs, and that no secret stands in it.
 */
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import * as Sha256 from "@buzz-orchestra/manifest/Sha256"
import { eventId } from "@buzz-orchestra/relay/EventSigning"
import { Effect, type FileSystem, type Path } from "effect"
import * as Accounting from "./Accounting.ts"
import * as Bundle from "./Bundle.ts"
import {
  bundleName,
  COLLECTED,
  CONFIG,
  EVENTS,
  EVIDENCE,
  inBundle,
  MANIFEST,
  RECEIPTS,
  RESULT,
  SUMMARY,
  TRANSCRIPT,
  VERIFIER
} from "./BundleFiles.ts"
import { accountAgents } from "./internal/accountAgents.ts"
import { inspectFiles, type Inspection } from "./internal/inspectFiles.ts"
import { lastWords } from "./internal/lastWords.ts"
import { REDACTED, type Redactor } from "./Redaction.ts"
import type { SecretFinding } from "./SecretScan.ts"
import type { TrialSummary } from "./TrialSummary.ts"

/** What is wrong with a bundle; nothing when all lists are empty. */
export interface Verification {
  readonly problems: ReadonlyArray<Bundle.Malformed>
  readonly secrets: ReadonlyArray<SecretFinding>
  /** Files that were read. */
  readonly files: number
  readonly summary: TrialSummary | undefined
}

/** Checks the bundle in `directory`. `redactor` knows the secrets to look for, besides those of known shapes. */
export const verify = Effect.fn("BundleVerification.verify")(function* (
  directory: string,
  redactor: Redactor
): Effect.fn.Return<Verification, Bundle.BundleUnreadable, FileSystem.FileSystem | Path.Path | ManifestService> {
  const bundle = yield* Bundle.read(directory)
  const checking = Effect.gen(function* () {
    const inspection = yield* inspectFiles(bundle.directory, bundle.files, redactor)
    const accounts = yield* accountProblems(bundle)
    const problems = [...bundle.malformed, ...problemsOf(bundle, inspection), ...accounts]
    return { problems, secrets: inspection.findings, files: bundle.files.length, summary: bundle.summary }
  })
  return yield* Effect.catchTag(checking, "PlatformError", ({ message }) =>
    Effect.fail(new Bundle.BundleUnreadable({ directory, detail: message }))
  )
})

const problemsOf = (bundle: Bundle.Bundle, inspection: Inspection): ReadonlyArray<Bundle.Malformed> => [
  ...bundle.unfinished.map((path) => ({ path, problem: "it was never written to its end" })),
  ...(bundle.isTorn ? [{ path: EVENTS, problem: "its last line has no end" }] : []),
  ...(bundle.summary === undefined
    ? [{ path: SUMMARY, problem: "it is missing: the harness was killed; complete the bundle with bundle finish" }]
    : digestProblems(bundle.summary, bundle, inspection)),
  ...(bundle.summary !== undefined && !bundle.hasResult ? [{ path: RESULT, problem: "it is missing" }] : []),
  ...manifestProblems(bundle),
  ...evidenceProblems(bundle, inspection),
  ...eventProblems(bundle),
  ...transcriptProblems(bundle)
]

const digestProblems = (
  { digests, files, secret_scan }: TrialSummary,
  bundle: Bundle.Bundle,
  inspection: Inspection
): ReadonlyArray<Bundle.Malformed> => {
  const present = bundle.files.filter((name) => name !== SUMMARY && name !== RESULT)
  const known = new Set([...files.map(inBundle), ...Object.keys(digests)])
  return [
    ...[...known].filter((path) => !present.includes(path)).map((path) => ({ path, problem: "it is missing" })),
    ...present
      .filter((path) => !known.has(path))
      // Without any digest the bundle alone is listed; verifiers grade after the trial has ended.
      .filter((path) => (digests[CONFIG] === undefined ? bundleName(path) : !path.startsWith(`${VERIFIER}/`)))
      .map((path) => ({ path, problem: "the summary does not know it" })),
    ...present
      .filter((path) => digests[path] !== undefined && digests[path] !== inspection.digests[path])
      .map((path) => ({ path, problem: `its sha256 is ${inspection.digests[path]}, not ${digests[path]}` })),
    ...(secret_scan.clean === null ? [{ path: SUMMARY, problem: "the files were not read again at the end" }] : [])
  ]
}

/** What is graded is what was exported: nobody was to write there after that. */
const evidenceProblems = ({ summary }: Bundle.Bundle, { digests }: Inspection): ReadonlyArray<Bundle.Malformed> => {
  const exported = summary?.evidence?.sha256
  const path = `${COLLECTED}/${bundleName(EVIDENCE)}`
  const problem =
    "it is not the evidence that was exported: something in the environment changed it before it was collected"
  return exported === undefined || digests[path] === undefined || digests[path] === exported ? [] : [{ path, problem }]
}

const manifestProblems = ({ config, manifest, summary }: Bundle.Bundle): ReadonlyArray<Bundle.Malformed> => {
  if (manifest === undefined) return [{ path: MANIFEST, problem: "it is missing or malformed" }]
  const digest = Sha256.sha256(manifest.canonical)
  const named = [
    [SUMMARY, summary?.manifest_sha256],
    [CONFIG, config?.agent.kwargs.manifest_sha256]
  ] as const
  return [
    ...(digest === manifest.sha256
      ? []
      : [{ path: MANIFEST, problem: `the sha256 of its manifest is ${digest}, not ${manifest.sha256}` }]),
    ...named
      .filter(([, sha256]) => sha256 !== undefined && sha256 !== manifest.sha256)
      .map(([path]) => ({ path, problem: `it names another manifest than ${MANIFEST}` }))
  ]
}

const eventProblems = ({ events, summary }: Bundle.Bundle): ReadonlyArray<Bundle.Malformed> => {
  const back = events.findIndex(({ elapsed }, index) => index > 0 && elapsed < (events[index - 1]?.elapsed ?? 0))
  const [first, last] = [events[0]?.event, events.at(-1)?.event]
  return [
    ...(back === -1 ? [] : [{ path: EVENTS, line: back + 1, problem: "its time runs backwards" }]),
    ...(first?._tag === "TrialStarted"
      ? []
      : [{ path: EVENTS, problem: "it does not begin with the start of the trial" }]),
    ...(summary === undefined || summary.finished_later || last?._tag === "TrialEnded"
      ? []
      : [{ path: EVENTS, problem: "it does not end with the end of the trial" }]),
    ...(last?._tag === "TrialEnded" && summary !== undefined && (last.outcome ?? null) !== summary.outcome
      ? [{ path: SUMMARY, problem: `its outcome is ${summary.outcome}, the trial ended with ${last.outcome}` }]
      : [])
  ]
}

/** An event that was seen has the id that its contents give it; one with a secret taken out cannot. */
const transcriptProblems = ({ events, summary, transcript }: Bundle.Bundle): ReadonlyArray<Bundle.Malformed> => {
  const problems: Array<Bundle.Malformed> = []
  events.forEach(({ event }, index) => {
    if (event._tag !== "MessageSeen" || JSON.stringify(event.event).includes(REDACTED)) return
    if (eventId(event.event) !== event.event.id)
      problems.push({ path: EVENTS, line: index + 1, problem: "the message is not the one that its id names" })
  })
  if (transcript === undefined) return problems
  const { message_count, messages } = transcript
  if (message_count !== messages.length)
    problems.push({
      path: TRANSCRIPT,
      problem: `it counts ${message_count} messages and has ${messages.length}`
    })
  if (summary !== undefined && summary.message_count !== messages.length)
    problems.push({
      path: SUMMARY,
      problem: `it counts ${summary.message_count} messages, there are ${messages.length}`
    })
  return problems
}

/** The accounts, drawn up again from the logs, prices and roster. */
const accountProblems = Effect.fnUntraced(function* (bundle: Bundle.Bundle) {
  const { manifest, receipts, summary } = bundle
  if (manifest === undefined || summary === undefined || !bundle.files.includes(RECEIPTS)) return []
  const manifests = yield* ManifestService
  const condition = yield* Effect.result(manifests.load(manifest.value, { dialect: manifest.dialect }))
  if (condition._tag === "Failure") return [{ path: MANIFEST, problem: condition.failure.message }]
  const agents = yield* accountAgents(bundle.directory, condition.success.manifest, lastWords(bundle.events))
  const again = Accounting.of(agents)
  const problems: Array<Bundle.Malformed> = []
  for (const receipt of again.receipts) {
    const kept = receipts.find(({ agent_id }) => agent_id === receipt.agent_id)
    const differing = COUNTED.filter((field) => kept?.[field] !== receipt[field])
    for (const field of differing) {
      const problem = `${receipt.agent_id}: ${field} is ${kept?.[field]}, its logs say ${receipt[field]}`
      problems.push({ path: RECEIPTS, problem })
    }
  }
  for (const field of TOTALS)
    if (again.totals[field] !== summary.totals[field])
      problems.push({
        path: SUMMARY,
        problem: `its ${field} is ${summary.totals[field]}, the logs say ${again.totals[field]}`
      })
  return problems
})

const COUNTED = ["input_tokens", "output_tokens", "cached_input_tokens", "cost_usd", "turns", "sessions"] as const
const TOTALS = ["input_tokens", "output_tokens", "cached_tokens", "cost_usd"] as const
