/**
 * A harness that is stopped by a signal, whatever its trials are doing: told to, it ends everything and writes every bundle; killed,
 * it leaves no process of its trials alive.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import * as BundleFinish from "@buzz-orchestra/runtime/BundleFinish"
import * as BundleVerification from "@buzz-orchestra/runtime/BundleVerification"
import * as Redaction from "@buzz-orchestra/runtime/Redaction"
import { TrialSummary } from "@buzz-orchestra/runtime/TrialSummary"
import { MANIFEST, SUMMARY } from "@buzz-orchestra/runtime/BundleFiles"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Layer, Schedule, Schema } from "effect"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Phase, PHASES } from "@buzz-orchestra/runtime/TrialEvent"
import * as Cases from "./support/Cases.ts"
import { type HarnessCase, type HarnessProcess, start } from "./support/HarnessProcess.ts"
import type { Manner } from "./support/Manners.ts"
import { makeMarker } from "./support/RealTrial.ts"
import { namespaceOf, processesIn } from "./support/SandboxProcesses.ts"

/** Phases in which a trial is held. */
const HELD = PHASES.filter((phase) => phase !== "forward" && phase !== "verify-output")

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"] as const
type Signal = (typeof SIGNALS)[number]

const CODES: Readonly<Record<Signal, number | Signal>> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129, SIGKILL: "SIGKILL" }

/** For what takes seconds on a machine with nothing else to do. */
const PATIENCE = "90 seconds"

/** Agents that are not there for their own sake, but are hard to end; a soak has one beside them that is not. */
const HARD: ReadonlyArray<Manner> = ["double-forks", "leaves-its-session", "serves", "stops"]
const TEAM: ReadonlyArray<ReadonlyArray<Manner>> = Cases.SOAKING ? [[], HARD] : [HARD]

const directories = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(join(tmpdir(), "buzz-signals-"))),
  (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))
)

/** A harness with these cases, once `isReady` holds of what it said, and the namespaces of its sandboxes. */
const running = Effect.fnUntraced(function* (
  fields: ReadonlyArray<Partial<HarnessCase>>,
  isReady: Parameters<HarnessProcess["said"]>[0]
) {
  const root = yield* directories
  const cases = fields.map((field, index): HarnessCase => ({
    marker: makeMarker(),
    directory: join(root, `${index}`),
    team: TEAM,
    story: "done",
    ...field
  }))
  const harness = yield* start(cases)
  const ready = Effect.raceFirst(
    harness.said(isReady),
    Effect.flatMap(harness.ended, (end) => Effect.die(new Error(`the harness ended with ${end}: ${harness.logged()}`)))
  )
  yield* Effect.timeoutOrElse(ready, {
    duration: PATIENCE,
    orElse: () => Effect.die(new Error(`the trials never came there: ${harness.logged()}`))
  })
  const namespaces = cases.flatMap(({ marker }) => namespaceOf(marker) ?? [])
  return { cases, harness, namespaces }
})

/** At most 5 s: then whatever is left is a failure. */
const nobodyLeft = (namespaces: ReadonlyArray<string>) =>
  Effect.sync(() => namespaces.flatMap(processesIn)).pipe(
    Effect.repeat({
      until: (left) => left.length === 0,
      schedule: Schedule.max([Schedule.spaced("50 millis"), Schedule.recurs(100)])
    }),
    Effect.map((left) => assert.deepStrictEqual(left, []))
  )

const decodeSummary = Schema.decodeUnknownSync(Schema.fromJsonString(TrialSummary))

const summaryOf = ({ directory }: HarnessCase) => decodeSummary(fs.readFileSync(join(directory, SUMMARY), "utf8"))

/** Whatever JSON lies in the directory is whole. */
const isWhole = ({ directory }: HarnessCase) => {
  if (!fs.existsSync(directory)) return
  for (const name of fs.readdirSync(directory).filter((name) => name.endsWith(".json")))
    assert.doesNotThrow(() => JSON.parse(fs.readFileSync(join(directory, name), "utf8")) as unknown, name)
}

/** What a killed harness left is completed, and nothing is wrong with it then. */
const isCompleted = Effect.fnUntraced(function* ({ directory }: HarnessCase) {
  if (!fs.existsSync(join(directory, MANIFEST))) return
  const redactor = Redaction.make([])
  const checking = Effect.andThen(
    BundleFinish.finish(directory, redactor),
    BundleVerification.verify(directory, redactor)
  )
  const { problems, secrets } = yield* Effect.provide(checking, READING)
  assert.deepStrictEqual({ problems, secrets }, { problems: [], secrets: [] })
})

const READING = ManifestService.layer.pipe(Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer)))

/** Stops the harness and looks at what is left. One that is not held may have ended by itself when the signal comes. */
const stop = Effect.fnUntraced(function* (
  signal: Signal,
  { cases, harness, namespaces }: Effect.Success<ReturnType<typeof running>>,
  isHeld = true
) {
  harness.kill(signal)
  const ended = yield* Effect.timeout(harness.ended, PATIENCE)
  if (isHeld || ended !== 0) assert.strictEqual(ended, CODES[signal], harness.logged())
  yield* nobodyLeft(namespaces)
  cases.forEach(isWhole)
  if (signal === "SIGKILL") yield* Effect.forEach(cases, isCompleted)
})

const TEST = { timeout: Cases.timeout(240_000) }

/** Signals that are handled alike. */
const ORDERLY: ReadonlyArray<Signal> = ["SIGINT", "SIGTERM", "SIGHUP"]

/** All phases for each signal; where tests are to be quick, those that are handled alike share them. */
const phasesFor = (signal: Signal): ReadonlyArray<Phase> =>
  Cases.QUICK && ORDERLY.includes(signal)
    ? HELD.filter((_, index) => index % ORDERLY.length === ORDERLY.indexOf(signal))
    : HELD

describe("a harness that runs a trial in each phase", () => {
  for (const signal of SIGNALS)
    it.live(
      signal === "SIGKILL"
        ? "and is killed leaves no process of them alive"
        : `and gets ${signal} ends everything in order and writes every summary`,
      () =>
        Effect.gen(function* () {
          const phases = phasesFor(signal)
          const run = yield* running(
            phases.map((hold) => ({ hold })),
            (words) => new Set(words.flatMap((word) => ("held" in word ? [word.case] : []))).size === phases.length
          )
          assert.strictEqual(run.namespaces.length, phases.length)
          yield* stop(signal, run)
          if (signal === "SIGKILL") return
          for (const [index, phase] of phases.entries()) {
            const { error, outcome, sweep } = summaryOf(run.cases[index]!)
            const isOver = phase === "settle" || phase === "sweep" || phase === "collect"
            assert.deepInclude({ phase, outcome, error }, { outcome: isOver ? "done" : "interrupted", error: null })
            assert.deepStrictEqual(sweep?.survivors ?? [], [], phase)
          }
        }).pipe(Effect.scoped),
      TEST
    )
})

const moments = Arbitrary.all({
  signal: Arbitrary.map(Cases.upTo(SIGNALS.length - 1), (index) => SIGNALS[index] ?? "SIGKILL"),
  stories: Arbitrary.array(
    Arbitrary.map(Cases.upTo(1), (n) => (n === 0 ? "done" : "silent") as "done" | "silent"),
    { minLength: 1, maxLength: 5 }
  ),
  afterMillis: Cases.upTo(1500)
})

describe("a harness that is stopped at any moment", () => {
  it.live.prop(
    "leaves nobody, and no document half-written",
    [moments],
    ([{ afterMillis, signal, stories }]) =>
      Effect.gen(function* () {
        const run = yield* running(
          stories.map((story) => ({ story })),
          (words) => new Set(words.map((word) => word.case)).size === stories.length
        )
        // The moment is what is drawn; nothing is waited for.
        yield* Effect.sleep(afterMillis)
        yield* stop(signal, run, false)
      }).pipe(Effect.scoped),
    {
      timeout: Cases.timeout(240_000),
      arbitrary: { ...Cases.options(Cases.QUICK ? 1 : 2, 100), maxShrinks: 5 }
    }
  )
})
