/**
 * What holds for every trial, however it goes: one sentence for each law that a case broke.
 */
import {
  bundleName,
  ENDPOINTS,
  EVIDENCE,
  inBundle,
  MANIFEST,
  promptName,
  RECEIPTS,
  RESULT,
  SUMMARY,
  TRAJECTORY,
  TRANSCRIPT
} from "@buzz-orchestra/runtime/BundleFiles"
import type { Phase } from "@buzz-orchestra/runtime/TrialEvent"
import { TrialSummary } from "@buzz-orchestra/runtime/TrialSummary"
import { Cause, Exit, Option, Schema } from "effect"
import type { Call, FaultPoints, Fired, Held } from "./FaultPoints.ts"
import type { Step } from "./FaultScript.ts"
import { agentIds } from "./TeamPlay.ts"
import { type Case, DIRECTORY } from "./SimulatedTrial.ts"

/** The sum of the deadlines of everything that follows the phases, with a little for the steps between. */
const CLEAN_UP_MILLIS = 340_000

/** The broken laws of a case; none when all is well. */
export const broken = (it: Case): ReadonlyArray<string> => {
  if (it.exit === undefined) return ["the trial never ended, although it was interrupted"]
  return [
    ...endsInTime(it),
    ...givesEverythingBack(it),
    ...leavesNothing(it),
    ...sweepsTwice(it),
    ...keepsTheFirstCause(it),
    ...tellsEveryFault(it),
    ...writesWhatItPromised(it)
  ]
}

const endsInTime = (it: Case): ReadonlyArray<string> => {
  const over = cleanUpBegan(it)
  if (over === undefined || it.endedAt - over <= CLEAN_UP_MILLIS) return []
  return [`the clean-up took ${(it.endedAt - over) / 1000} s`]
}

const CLEAN_UP: ReadonlyArray<Phase> = ["settle", "sweep", "collect"]

const isCleanUp = (phase: Phase | undefined): boolean => phase !== undefined && CLEAN_UP.includes(phase)

const cleanUpBegan = ({ events }: Case): number | undefined =>
  events.find((event) => event._tag === "PhaseStarted" && CLEAN_UP.includes(event.phase))?.at

const of = (all: ReadonlyArray<Held>, event: Held["event"]): ReadonlyArray<string> =>
  all.flatMap((held) => (held.event === event ? [held.what] : []))

/**
 * Everything that was taken is given back, the last first, each once, before the trial returns. What does not come to an end
 * by the deadlines is left behind, which is told, and given back when it does.
 */
const givesEverythingBack = ({ events, heldAtEnd, openFilesAtEnd, points }: Case): ReadonlyArray<string> => {
  const [taken, back] = [of(heldAtEnd, "taken"), of(heldAtEnd, "given back")]
  const [takenEver, backEver] = [of(points.held, "taken"), of(points.held, "given back")]
  const wrong = taken.toReversed().join() !== back.join() || openFilesAtEnd.length > 0
  const isTold = events.some((event) => event._tag === "Warned" && event.detail.includes("left behind"))
  return [
    ...(wrong && !isTold
      ? [`taken: ${taken.join(", ")}; given back: ${back.join(", ")}; files open: ${openFilesAtEnd.join(", ")}`]
      : []),
    ...(takenEver.toSorted().join() === backEver.toSorted().join()
      ? []
      : [`taken: ${takenEver.join(", ")}; given back at last: ${backEver.join(", ")}`])
  ]
}

const leavesNothing = ({ files, remains }: Case): ReadonlyArray<string> => [
  ...files.openFiles.map((path) => `${path} is still open`),
  ...(remains.fibers === 0 ? [] : [`${remains.fibers} fibers are left`]),
  ...(remains.sleeps === 0 ? [] : [`${remains.sleeps} timers are left`]),
  ...files.below("/tmp").map((path) => `${path} is left`)
]

/** A call that did what it was for. */
const worked = ({ fault }: Call): boolean =>
  fault === undefined || fault.way.startsWith("interrupts") || fault.way === "slow"

const launched = ({ points }: Case): boolean => points.calls.some((call) => call.step === "launch" && worked(call))

/** TERM and, after it, a look at what is left; what is left gets KILL. A program that survived is in the summary. */
const sweepsTwice = (it: Case): ReadonlyArray<string> => {
  if (!launched(it) || it.script.lostAt !== undefined) return []
  const sweep = it.points.calls.filter(({ phase }) => isCleanUp(phase))
  const term = sweep.findIndex(({ step }) => step === "send TERM")
  const looks = sweep.filter(({ step }) => step === "snapshot").length
  const after = sweep.slice(term + 1).filter(({ step }) => step === "snapshot" || step === "send KILL").length
  const alive = [...it.programsAtEnd.values()].filter((program) => program.alive).map(({ name }) => name)
  const immortal = new Set(agentIds(it.script).filter((_, index) => it.script.fates[index] === "resists KILL"))
  return [
    ...(looks + sweep.filter(({ step }) => step === "send KILL").length >= 2 && (term === -1 || after > 0)
      ? []
      : ["KILL was never come to"]),
    ...alive.filter((name) => !immortal.has(name)).map((name) => `${name} is alive`)
  ]
}

/** What a fault's error says. */
const speaks = ({ way }: Fired): boolean => way === "fails" || way === "dies"

/** Steps without which no trial goes on. */
const VITAL: ReadonlySet<Step> = new Set<Step>([
  "read the prompt",
  "provision",
  "read a file",
  "make the layout",
  "upload",
  "check digests",
  "open the watch",
  "ask the relay",
  "ask for proxies",
  "launch",
  "observe",
  "send",
  "probe the output"
])

/** A trial whose directory cannot be written does not begin; what cannot be written later is told. */
const isVital = ({ phase, step }: FaultPoints["fired"][number]): boolean =>
  VITAL.has(step) || (phase === "prepare" && step === "write a document")

/** The one thing after the phases that a trial fails for: a verifier would take the lack of evidence for a wrong answer. */
const isUngraded = ({ exit, script }: Case): boolean =>
  script.graded &&
  exit !== undefined &&
  Exit.isFailure(exit) &&
  Option.exists(Cause.findErrorOption(exit.cause), ({ reason }) => reason._tag === "EvidenceNotExported")

/** What ended the phases is what the trial ends with: the first failure of something vital, or the interruption. */
const keepsTheFirstCause = (it: Case): ReadonlyArray<string> => {
  const { exit, points, script } = it
  if (exit === undefined) return []
  const said = Exit.isSuccess(exit) ? "" : Cause.pretty(exit.cause)
  const first = points.fired.find((fault) => isVital(fault) && !isCleanUp(fault.phase))
  const isAlone =
    points.interruptedAt === undefined && script.lostAt === undefined && script.fates.every((fate) => fate === "works")
  return [
    ...points.fired
      .filter((fault) => isCleanUp(fault.phase) && speaks(fault) && said.includes(fault.word) && !isUngraded(it))
      .map(({ word }) => `a fault of the clean-up became the error: ${word}`),
    ...(first !== undefined && speaks(first) && isAlone && !said.includes(first.word)
      ? [`the first cause is lost: ${first.word}`]
      : []),
    ...(Exit.hasInterrupts(exit) && points.interruptedAt === undefined ? ["it was interrupted by nobody"] : [])
  ]
}

/** Several at a time: one that failed waits for the others, and an interruption that comes meanwhile takes its place. */
const AT_ONCE: ReadonlySet<Step> = new Set<Step>(["upload", "read a file"])

/**
 * Whatever went wrong later stands beside the first cause. Only what failed because it was being stopped, beside the failure
 * or after the interruption that stopped it, adds nothing.
 */
const tellsEveryFault = (it: Case): ReadonlyArray<string> => {
  const { events, exit, files, points } = it
  const told = [
    files.text(`${DIRECTORY}/${SUMMARY}`) ?? "",
    JSON.stringify(events),
    exit !== undefined && Exit.isFailure(exit) ? Cause.pretty(exit.cause) : ""
  ].join("\n")
  const speaking = points.fired.filter(speaks)
  const isStopped = (fault: (typeof speaking)[number]) =>
    !isCleanUp(fault.phase) &&
    ((points.interruptedAt !== undefined && points.interruptedAt <= fault.at) ||
      (points.interruptedIn === fault.phase && AT_ONCE.has(fault.step)) ||
      speaking.some((other) => other !== fault && other.phase === fault.phase && other.at <= fault.at))
  // Certificates that nobody could ask for are certificates that are not there.
  const isRecorded = ({ step }: Fired) =>
    step === "ask for certificates" && !/"trust_store": ?"(present|seeded)"/.test(told)
  return speaking
    .filter((fault) => !told.includes(fault.word) && !isStopped(fault) && !isRecorded(fault))
    .map(({ word }) => `nobody tells of: ${word}`)
}

const decodeSummary = Schema.decodeUnknownExit(Schema.fromJsonString(TrialSummary))

/** Every artifact that the trial had come far enough to promise, unless the disk itself failed it. */
const writesWhatItPromised = (it: Case): ReadonlyArray<string> => {
  const { exit, files, points, printed } = it
  const began = (phase: Phase) => it.events.some((event) => event._tag === "PhaseStarted" && event.phase === phase)
  const failed = (path: string) =>
    points.calls.some(
      ({ about, fault, phase, step }) =>
        fault !== undefined &&
        ((step === "write a document" && (about.startsWith(path) || path.startsWith(`${about}/`))) ||
          (step === "write a document" && phase === "prepare" && /manifest|endpoints/.test(path)) ||
          (step === "append to a log" && about === path))
    )
  const promised = [
    ...(began("prepare") ? [MANIFEST, ENDPOINTS, SUMMARY] : []),
    ...(began("install") ? agentIds(it.script).map((agentId) => inBundle(promptName(agentId))) : []),
    ...(began("post") ? [TRANSCRIPT, EVIDENCE] : []),
    ...(began("collect") ? [RECEIPTS] : []),
    ...(began("prepare") ? [TRAJECTORY] : [])
  ]
  const missing = promised.filter(
    (name) => files.text(`${DIRECTORY}/${name}`) === undefined && !failed(`${DIRECTORY}/${name}`)
  )
  const unlike = [...printed].filter(
    ([name, text]) =>
      began("settle") &&
      !failed(`${DIRECTORY}/${inBundle(name)}`) &&
      !excusedLogs(it) &&
      files.text(`${DIRECTORY}/${inBundle(name)}`) !== text
  )
  return [
    ...missing.map((name) => `${name} is missing`),
    ...unlike.map(([name]) => `${name} is not what was printed`),
    ...(missing.length === 0 && exit !== undefined ? summaryAgrees(it) : [])
  ]
}

/** Where the way out of the environment was broken, or somebody lives on and talks, logs are what came through. */
const excusedLogs = ({ points, programsAtEnd, script }: Case): boolean =>
  script.lostAt !== undefined ||
  [...programsAtEnd.values()].some((program) => program.alive) ||
  points.fired.some(({ step }) => step === "ask for sizes" || step === "open the watch" || step === "append to a log")

const summaryAgrees = ({ exit, files }: Case): ReadonlyArray<string> => {
  const text = files.text(`${DIRECTORY}/${SUMMARY}`)
  if (text === undefined || exit === undefined) return []
  const decoded = decodeSummary(text)
  if (Exit.isFailure(decoded)) return [`summary.json does not decode: ${Cause.pretty(decoded.cause)}`]
  const summary = decoded.value
  const present = files
    .below(DIRECTORY)
    .map((path) => path.slice(DIRECTORY.length + 1))
    .filter((name) => name !== SUMMARY && name !== RESULT && !name.endsWith(".unfinished"))
    .filter((name) => files.text(`${DIRECTORY}/${name}`) !== undefined)
  return [
    ...(Exit.isSuccess(exit) && (summary.outcome !== exit.value.outcome || summary.error !== null)
      ? [`the summary says ${summary.outcome}, the trial ${exit.value.outcome}`]
      : []),
    ...(Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause) && summary.error === null
      ? ["the summary has no error"]
      : []),
    ...(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) && summary.outcome === null
      ? ["the summary does not say interrupted"]
      : []),
    ...(summary.files.join() === present.flatMap((name) => bundleName(name) ?? []).join()
      ? []
      : [`the summary lists ${summary.files.join()}, there are ${present.join()}`])
  ]
}

/** How a case went, for whoever reads a failure: its end, every call with its time and phase, and what was held. */
export const story = ({ events, exit, heldAtEnd, points }: Case): string =>
  [
    `exit: ${exitText(exit)}`,
    ...points.calls.map(({ about, at, fault, phase, step }) => {
      const millis = at - (events[0]?.at ?? at)
      return `${millis} ${phase} ${step} ${about}${fault === undefined ? "" : ` [${fault.way}]`}`
    }),
    `held: ${heldAtEnd.map(({ event, what }) => `${what} ${event}`).join(", ")}`
  ].join("\n")

const exitText = (exit: Case["exit"]): string => {
  if (exit === undefined) return "none"
  return Exit.isSuccess(exit) ? exit.value.outcome : (Cause.pretty(exit.cause).split("\n")[0] ?? "")
}
