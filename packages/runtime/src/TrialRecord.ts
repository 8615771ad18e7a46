/**
 * What one trial has done so far: kept while it runs, told to `TrialEvents` as it happens, and turned into `summary.json`
 * whatever the end. Owned by the fiber tree of one trial.
 */
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import type { TrialHandle } from "@buzz-orchestra/relay/TrialHandle"
import { Cause, Clock, Duration, Effect, Exit, Option, Ref } from "effect"
import { bounded, sentence } from "./internal/bounded.ts"
import * as BundleLog from "./internal/bundleLog.ts"
import type { Reached } from "./internal/reachRelay.ts"
import type { AgentUsersHeld } from "./AgentUsers.ts"
import type { Accounts } from "./Accounting.ts"
import type { ArtifactStatus } from "./ArtifactManifest.ts"
import type { InstalledStack } from "./StackInstaller.ts"
import type { TrialDirectory } from "./TrialDirectory.ts"
import type { Outcome, Phase, SweptProcess, TrialHappening, TrialNames } from "./TrialEvent.ts"
import { TrialEvents } from "./TrialEvents.ts"
import type { ScriptedEvent } from "./TaskFixture.ts"
import type { AgentSummary, CleanupStep, EvidenceSummary, PhaseSummary } from "./TrialSummary.ts"

/** Everything known of a trial; what has not happened is absent. */
export interface TrialFacts {
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly phases: ReadonlyArray<PhaseSummary>
  readonly warnings: ReadonlyArray<string>
  readonly cleanup: ReadonlyArray<CleanupStep>
  readonly handle?: TrialHandle
  readonly stack?: InstalledStack
  readonly agentUsers?: AgentUsersHeld
  /** What the relay answered to programs in the environment. */
  readonly relay?: Reached
  readonly agents?: ReadonlyArray<AgentSummary>
  readonly accounts?: Accounts
  readonly taskEvent?: NostrEvent
  readonly outcome?: { readonly outcome: Outcome; readonly detail: string }
  readonly completion?: NostrEvent
  readonly messageCount?: number
  /** In the order in which they were sent. */
  readonly scripted?: ReadonlyArray<ScriptedEvent>
  /** The evidence as it was put into the environment. */
  readonly evidence?: EvidenceSummary
  /** What became of what the trial left in the environment. */
  readonly artifacts?: ArtifactStatus
  readonly sweep?: { readonly survivors: ReadonlyArray<SweptProcess>; readonly spared: ReadonlyArray<SweptProcess> }
}

/** The growing record of one trial. */
export interface TrialRecord {
  readonly facts: Effect.Effect<TrialFacts>
  /** Adds what became known. */
  learn(facts: Partial<Omit<TrialFacts, "phases" | "warnings" | "cleanup" | "startedAt">>): Effect.Effect<void>
  /** Tells subscribers what happened, and the log of the bundle once it is kept. */
  publish(happening: TrialHappening): Effect.Effect<void>
  /** From now on what happens is also written to the trial directory, as it happens; what happened before, first. */
  keepIn(directory: TrialDirectory): Effect.Effect<void>
  /** Takes secrets out of what is written from now on. */
  redactWith(redact: (text: string) => string): Effect.Effect<void>
  /** Writes a last event and all that is not written yet. What happens after that is told to subscribers alone. */
  closeLog(last: TrialHappening): Effect.Effect<void>
  /** Records and tells something the trial survives. */
  warn(detail: string): Effect.Effect<void>
  /** Runs one phase and records how long it took and how it ended. */
  phase<A, E extends { readonly message: string }, R>(
    phase: Phase,
    effect: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R>
  /** Records a step of the clean-up that somebody else ran; what went wrong in it is told as a warning. */
  noteStep(entry: CleanupStep): Effect.Effect<void>
  /**
   * Runs one step of the clean-up: it never fails and never takes longer than `deadline`. What went wrong is recorded and
   * told as a warning, and the value is absent.
   */
  step<A, R>(
    step: string,
    deadline: Duration.Input,
    effect: Effect.Effect<A, { readonly message: string }, R>
  ): Effect.Effect<Option.Option<A>, never, R>
}

/** The record of the trial of these names, which starts now. */
export const make = Effect.fnUntraced(function* ({
  runId,
  trialId
}: TrialNames): Effect.fn.Return<TrialRecord, never, TrialEvents> {
  const events = yield* TrialEvents
  const log = yield* BundleLog.make
  const startedAt = yield* Clock.currentTimeMillis
  const startedNanos = yield* Clock.currentTimeNanos
  const note = Effect.fnUntraced(function* (happening: TrialHappening) {
    const [at, nanos] = [yield* Clock.currentTimeMillis, yield* Clock.currentTimeNanos]
    // Microseconds: more digits would be noise.
    yield* log.add({ at, runId, trialId, ...happening }, Number((nanos - startedNanos) / 1000n) / 1e6)
  })
  const publish = (happening: TrialHappening) =>
    Effect.andThen(note(happening), events.publish({ runId, trialId, ...happening }))
  const ref = yield* Ref.make<TrialFacts>({ startedAt, phases: [], warnings: [], cleanup: [] })

  const warn = Effect.fnUntraced(function* (detail: string) {
    yield* Ref.update(ref, (facts) => ({ ...facts, warnings: [...facts.warnings, detail] }))
    yield* publish({ _tag: "Warned", detail })
  })

  const phase: TrialRecord["phase"] = (phase, effect) =>
    Effect.gen(function* () {
      const elapsed = yield* stopwatch
      const started_at = new Date(yield* Clock.currentTimeMillis).toISOString()
      yield* publish({ _tag: "PhaseStarted", phase })
      return yield* Effect.onExit(effect, (exit) =>
        Effect.gen(function* () {
          const millis = yield* elapsed
          const error = Exit.isSuccess(exit) ? undefined : describe(exit.cause)
          const entry: PhaseSummary = { phase, started_at, seconds: millis / 1000, error: error ?? null }
          yield* Ref.update(ref, (facts) => ({ ...facts, phases: [...facts.phases, entry] }))
          yield* publish({ _tag: "PhaseEnded", phase, millis, error })
        })
      )
    }).pipe(Effect.withSpan(`trial.${phase}`))

  const noteStep = Effect.fnUntraced(function* (entry: CleanupStep) {
    yield* Ref.update(ref, (facts) => ({ ...facts, cleanup: [...facts.cleanup, entry] }))
    if (entry.error !== null) yield* warn(`${entry.step}: ${entry.error}`)
  })

  const step: TrialRecord["step"] = (name, deadline, effect) =>
    Effect.gen(function* () {
      const elapsed = yield* stopwatch
      yield* publish({ _tag: "DeadlineSet", what: name, millis: Duration.toMillis(deadline) })
      const { error, late, value } = yield* bounded(deadline, effect)
      const millis = yield* elapsed
      if (late) yield* publish({ _tag: "DeadlinePassed", what: name, millis })
      yield* publish({ _tag: "StepEnded", step: name, millis, error })
      yield* noteStep({ step: name, seconds: millis / 1000, error: error ?? null })
      return value
    })

  return {
    facts: Ref.get(ref),
    learn: (news) => Ref.update(ref, (facts) => ({ ...facts, ...news })),
    publish,
    keepIn: (directory) => log.writeTo(directory, warn),
    redactWith: log.redactWith,
    closeLog: (last) => Effect.andThen(note(last), log.close),
    warn,
    phase,
    noteStep,
    step
  }
})

/** Milliseconds since it was run, by the monotonic clock. */
const stopwatch: Effect.Effect<Effect.Effect<number>> = Effect.map(Clock.currentTimeNanos, (start) =>
  Effect.map(Clock.currentTimeNanos, (now) => Number((now - start) / 1_000_000n))
)

const describe = (cause: Cause.Cause<{ readonly message: string }>): string =>
  Cause.hasInterruptsOnly(cause) ? "interrupted" : sentence(cause)
