/**
 * Bench `trial`: what a harness adds to a trial by itself, ours against the one that polls. The agents are the same, the
 * environments are of one kind, and the trials of both take turns.
 */
import { Effect } from "effect"
import * as TrialServices from "../packages/runtime/src/TrialServices.ts"
import { pollingTrial } from "./baseline/PollingHarness.ts"
import { measure, type Measured } from "./Measured.ts"
import { ownTrial } from "./OwnTrial.ts"
import { type EnvironmentKind, type Harness, place } from "./Place.ts"
import { millis, ratio, spread, table, verdict } from "./Report.ts"
import { median } from "./Statistics.ts"
import { trialOptions, type TrialSpec } from "./TrialSpec.ts"

/** A busy machine gets fewer rounds, but never fewer than `LEAST_ROUNDS`. */
const ROUNDS = 5
const LEAST_ROUNDS = 2
const BUDGET_MILLIS = 90_000

const TEAMS = [1, 3] as const
const HARNESSES: ReadonlyArray<Harness> = ["own", "polling"]

/** The lead works for one of these parts of a second beyond the first 300 ms, so that `DONE:` comes at all phases of a poll. */
const workMillis = (round: number): number => 300 + (1000 * (round + 0.5)) / ROUNDS

const FULL_GROWTH = { bytes: 50 * 1024 * 1024, seconds: 12 }
const GROWTHS = [{ bytes: FULL_GROWTH.bytes / 2, seconds: FULL_GROWTH.seconds / 2 }, FULL_GROWTH]

/**
 * Where a process takes its time to go, the sweep looks once more, and one more shell guards its wait: two calls of an environment,
 * two requests of an engine. That depends on how busy the machine is and not on how long the trial was.
 */
const SWEEP_CALLS = 2

/** One that hangs must not hang the bench. */
const TRIAL_LIMIT = "2 minutes"

let trials = 0

/** One trial in an environment of its own. */
const run = (kind: EnvironmentKind, harness: Harness, spec: TrialSpec) =>
  Effect.gen(function* () {
    const options = yield* trialOptions(spec, `bench-${++trials}`)
    return yield* harness === "own"
      ? measure(Effect.provide(ownTrial(options), TrialServices.layerRuntime))
      : measure(pollingTrial(options))
  }).pipe(Effect.scoped, Effect.timeout(TRIAL_LIMIT), Effect.provide(place(kind, harness)))

/** The report. */
export const trialOverhead = Effect.fnUntraced(function* (kind: EnvironmentKind) {
  const teams = yield* teamRounds(kind)
  const grown = yield* growthRounds(kind)
  return [
    `Environment: ${kind}. Times in ms: median (p10–p90).`,
    ...TEAMS.map((agents) =>
      teamReport(
        agents,
        teams.filter((one) => one.agents === agents),
        kind
      )
    ),
    growthReport(grown, kind)
  ].join("\n\n")
})

interface TeamTrial {
  readonly agents: 1 | 3
  readonly harness: Harness
  readonly measured: Measured
}

const teamRounds = Effect.fnUntraced(function* (kind: EnvironmentKind) {
  // The first trial of a process pays for everything that is loaded and compiled once.
  for (const harness of HARNESSES) yield* run(kind, harness, { agents: 1, workMillis: 0 })
  const results: Array<TeamTrial> = []
  const end = performance.now() + BUDGET_MILLIS
  for (let round = 0; round < LEAST_ROUNDS || (round < ROUNDS && performance.now() < end); round++)
    for (const agents of TEAMS)
      for (const harness of round % 2 === 0 ? HARNESSES : HARNESSES.toReversed()) {
        const measured = yield* run(kind, harness, { agents, workMillis: workMillis(round) })
        results.push({ agents, harness, measured })
      }
  return results
})

/** What a harness makes of one number of each of its trials. */
const overhead = ({ agents, ready }: Measured) => ready - agents

const teamReport = (agents: number, results: ReadonlyArray<TeamTrial>, kind: EnvironmentKind): string => {
  const of = (harness: Harness, value: (measured: Measured) => number) =>
    results.filter((result) => result.harness === harness).map(({ measured }) => value(measured))
  const rows = [
    { name: "start → ready", value: ({ ready }: Measured) => ready },
    { name: "… of it the slowest agent's own", value: (measured: Measured) => measured.agents },
    { name: "… and the harness's", value: overhead },
    { name: "`DONE:` → noticed", value: ({ notice }: Measured) => notice },
    { name: "`DONE:` → swept and collected", value: ({ end }: Measured) => end },
    { name: callsOf(kind), value: ({ calls }: Measured) => calls }
  ].map(({ name, value }) => {
    const [own, polling] = [of("own", value), of("polling", value)]
    return [name, spread(own), spread(polling), ratio(median(polling), median(own))]
  })
  const share = (value: (measured: Measured) => number) => median(of("own", value)) / median(of("polling", value))
  const [ready, end] = [share(overhead), share((measured) => measured.end)]
  return [
    `### ${agents === 1 ? "1 agent" : `${agents} agents`} (${of("own", overhead).length} trials each)`,
    table(["", "ours", "polling", "polling to ours"], rows),
    [
      verdict(ready <= 1 / 5, "the harness's part of start → ready at most 1/5", `${ready.toFixed(2)}`),
      verdict(end <= 1 / 4, "`DONE:` → swept and collected at most 1/4", `${end.toFixed(2)}`)
    ].join("\n")
  ].join("\n\n")
}

const callsOf = (kind: EnvironmentKind) => (kind === "local" ? "calls of the environment" : "requests of the engine")

interface GrownTrial {
  readonly seconds: number
  readonly harness: Harness
  readonly measured: Measured
}

const growthRounds = Effect.fnUntraced(function* (kind: EnvironmentKind) {
  const results: Array<GrownTrial> = []
  for (const growth of GROWTHS)
    for (const harness of HARNESSES) {
      const measured = yield* run(kind, harness, { agents: 1, workMillis: 0, growth })
      results.push({ seconds: growth.seconds, harness, measured })
    }
  return results
})

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

const growthReport = (results: ReadonlyArray<GrownTrial>, kind: EnvironmentKind): string => {
  const rows = results.map(({ harness, measured, seconds }) => [
    `${harness === "own" ? "ours" : "polling"}, ${seconds} s of growth`,
    String(measured.calls),
    megabytes(measured.logBytesWritten),
    megabytes(measured.logBytesRead),
    ratio(measured.logBytesRead, measured.logBytesWritten),
    millis(measured.end)
  ])
  const own = results.filter(({ harness }) => harness === "own").map(({ measured }) => measured)
  const calls = own.map((measured) => measured.calls)
  const reads = own.map(({ logBytesRead, logBytesWritten }) => `${logBytesRead} of ${logBytesWritten}`)
  return [
    "### 1 agent whose log grows",
    table(["", callsOf(kind), "written", "read", "read to written", "`DONE:` → collected"], rows),
    [
      verdict(
        Math.max(...calls) - Math.min(...calls) <= SWEEP_CALLS,
        `${callsOf(kind)}: constant in the trial's length, but for ${SWEEP_CALLS} of the sweep`,
        calls.join(" and ")
      ),
      verdict(
        own.every(({ logBytesRead, logBytesWritten }) => logBytesRead === logBytesWritten),
        "log bytes read = log bytes written",
        reads.join(", ")
      )
    ].join("\n")
  ].join("\n\n")
}
