/**
 * Runs a trial and shows it: live while it runs, and at its end how it ended. What `run` and `demo` have in common.
 */
import type { ProvisioningError } from "@buzz-orchestra/relay/ProvisioningError"
import type { EnvironmentError } from "@buzz-orchestra/runtime/EnvironmentError"
import type { RuntimeLaunchError } from "@buzz-orchestra/runtime/RuntimeLaunchError"
import { Trial, type TrialResult } from "@buzz-orchestra/runtime/Trial"
import type { TrialEvents } from "@buzz-orchestra/runtime/TrialEvents"
import type { Outcome } from "@buzz-orchestra/runtime/TrialEvent"
import type { TrialOptions } from "@buzz-orchestra/runtime/TrialOptions"
import type { TrialSummary } from "@buzz-orchestra/runtime/TrialSummary"
import { Cause, Clock, Effect, Exit } from "effect"
import { secretsRefused } from "./BundleSecrets.ts"
import { CommandError } from "./CommandError.ts"
import { type Ended, endLines } from "./EndOfTrial.ts"
import { ofSignal, OUTCOME_CODES, type StopSignal } from "./ExitCode.ts"
import * as Failure from "./Failure.ts"
import { follow, type FollowMode, type Following } from "./Following.ts"
import { Invocation } from "./Invocation.ts"
import { exitedLine } from "./JsonLines.ts"
import type { LiveModel } from "./LiveView.ts"
import { Output } from "./Output.ts"
import { ExitWith, StoppingRef } from "./Stopping.ts"

/** How to show it. */
export interface ShowOptions {
  readonly json: boolean
  /** The trial directory as a person may type it. */
  readonly directory: string
  /** Takes known secrets out of a line. */
  readonly scrub: (text: string) => string
  /** What would be left if the process left at once, one line each. */
  readonly leftovers: ReadonlyArray<string>
  /** Takes out of the environment what is wanted of it, once the trial is over; tells what it did. */
  readonly collect?: (note: Following["note"]) => Effect.Effect<void, EnvironmentError>
}

/**
 * Runs the trial of `options`. Succeeds when the outcome is `done`; every other end is an `ExitWith`, with everything a
 * person should read printed before. Interruption stops in order and prints the same end.
 */
export const run = Effect.fn("ShownTrial.run")(function* (
  options: TrialOptions,
  show: ShowOptions
): Effect.fn.Return<void, ExitWith, Trial | TrialEvents | Output | StoppingRef> {
  const trial = yield* Trial
  const output = yield* Output
  const stopping = yield* StoppingRef
  const mode: FollowMode = show.json ? "json" : output.isTerminal ? "block" : "lines"

  const result = yield* Effect.scoped(
    Effect.gen(function* () {
      const following = yield* follow(mode, show.scrub)
      stopping.mayLeave(show.leftovers)
      yield* Effect.addFinalizer(() => Effect.sync(() => stopping.mayLeave([])))
      const context = yield* Effect.context<never>()
      stopping.onStop((signal) => Effect.runForkWith(context)(following.note(stoppingNote(signal))))
      return yield* trial.run(options).pipe(
        (running) => collecting(running, following, show),
        Effect.onExit((exit) => end(exit, following, show))
      )
    })
  ).pipe(Effect.mapError((error) => new ExitWith({ code: Failure.fromError(error).exitCode })))
  const code = codeOf(result, show.directory)
  if (code !== 0) return yield* new ExitWith({ code })
})

/** A repository takes seconds. */
const COLLECT_LIMIT = "2 minutes"

/** What could not be had of a trial that went well is an error; of any other it is told, and its own end counts. */
const collecting = <E>(running: Effect.Effect<TrialResult, E>, { note }: Following, { collect }: ShowOptions) => {
  if (collect === undefined) return running
  const told = Effect.catchTag(collect(note), "EnvironmentError", (error) => note(Failure.fromError(error).line))
  // Whoever stopped the trial waits for its end.
  const bounded = Effect.timeoutOrElse(Effect.interruptible(told), {
    duration: COLLECT_LIMIT,
    orElse: () => note(`what was asked for did not come out of the environment within ${COLLECT_LIMIT}`)
  })
  return running.pipe(
    Effect.onError(() => bounded),
    Effect.tap(({ outcome }) => (OUTCOME_CODES[outcome] === 0 ? collect(note) : told))
  )
}

/** A trial that went well is no success when its bundle must not be handed on. */
const codeOf = ({ outcome, summary }: TrialResult, directory: string): number => {
  const code = OUTCOME_CODES[outcome]
  return code === 0 ? (secretsIn(summary, directory)?.exitCode ?? 0) : code
}

const secretsIn = ({ secret_scan }: TrialSummary, directory: string): Failure.Failure | undefined => {
  const reason = secretsRefused(directory, secret_scan.findings)
  return reason === undefined ? undefined : Failure.fromError(new CommandError({ command: "run", reason }))
}

const stoppingNote = (signal: StopSignal): string =>
  signal === "SIGPIPE"
    ? "nobody reads the output any more: stopping in order"
    : `${signal}: stopping in order; once more leaves at once`

type TrialExit = Exit.Exit<TrialResult, RuntimeLaunchError | ProvisioningError | EnvironmentError>

/** Takes the live view away and prints the end. A defect is left to whoever reports bugs. */
const end = Effect.fnUntraced(function* (exit: TrialExit, following: Following, show: ShowOptions) {
  const output = yield* Output
  const stopping = yield* StoppingRef
  const model = yield* following.finish
  const ended = endedAs(exit, stopping)
  if (ended === undefined) return
  const secrets = Exit.isSuccess(exit) ? secretsIn(exit.value.summary, show.directory) : undefined
  const refused = Exit.isSuccess(exit) && secrets !== undefined ? withSecrets(exit.value.outcome, secrets) : {}
  const told = { ...exited(model, ended, show.directory), ...refused }
  const lines = show.json
    ? [exitedLine(yield* Clock.currentTimeMillis, told)]
    : [
        ...endLines(model, {
          ended,
          directory: show.directory,
          command: yield* Invocation,
          style: output.style
        }),
        ...(secrets === undefined ? [] : Failure.lines(secrets, output.style))
      ]
  yield* output.write(lines.map((line) => `${show.scrub(line)}\n`).join(""))
})

const withSecrets = (outcome: Outcome, { exitCode, line, next, reason }: Failure.Failure) => ({
  exitCode: OUTCOME_CODES[outcome] === 0 ? exitCode : OUTCOME_CODES[outcome],
  error: { reason, message: line, next }
})

const endedAs = (exit: TrialExit, stopping: { readonly signal: Extract<Ended, { _tag: "Stopped" }>["signal"] }) => {
  if (Exit.isSuccess(exit)) return { _tag: "Returned" } as const
  const error = Cause.findErrorOption(exit.cause)
  if (error._tag === "Some") return { _tag: "Failed", failure: Failure.fromError(error.value) } as const
  return Cause.hasInterruptsOnly(exit.cause) ? ({ _tag: "Stopped", signal: stopping.signal } as const) : undefined
}

const exited = (model: LiveModel, ended: Ended, directory: string) => {
  const outcome = model.outcome?.outcome
  switch (ended._tag) {
    case "Returned":
      return { exitCode: outcome === undefined ? 0 : OUTCOME_CODES[outcome], outcome, directory, error: undefined }
    case "Failed": {
      const { exitCode, line, next, reason } = ended.failure
      return { exitCode, outcome, directory, error: { reason, message: line, next } }
    }
    case "Stopped":
      return {
        exitCode: ended.signal === undefined ? OUTCOME_CODES.interrupted : ofSignal(ended.signal),
        outcome: "interrupted",
        directory,
        error: undefined
      }
  }
}
