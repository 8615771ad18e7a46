/**
 * One case of the matrix of real processes: runs a trial whose agents have the asked manners, ends it as asked, and looks at
 * what is left, from outside the sandbox, before and after the sandbox is closed.
 */
import { inBundle } from "@buzz-orchestra/runtime/BundleFiles"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { Trial } from "@buzz-orchestra/runtime/Trial"
import type { Phase } from "@buzz-orchestra/runtime/TrialEvent"
import { TrialEvents } from "@buzz-orchestra/runtime/TrialEvents"
import type { TrialSummary } from "@buzz-orchestra/runtime/TrialSummary"
import { Effect, Exit, Fiber, FileSystem, Layer, Schedule } from "effect"
import { inside, leadSays } from "../../support/realTrial.ts"
import { awaitEvent, awaitPhase, readSummary } from "../../support/trial.ts"
import type { Manner } from "./Manners.ts"
import { makeMarker, mannerOptions, markedWorld, trialOver } from "./RealTrial.ts"
import { namespaceOf, processesIn, tenants } from "./SandboxProcesses.ts"

/** What is done with the trial. */
export interface RealScript {
  /** The manners of each agent, the orchestrator first. */
  readonly team: ReadonlyArray<ReadonlyArray<Manner>>
  /**
   * `done`: the lead says so when the trial observes. `silent`: nobody says anything, and the budget of a second ends it.
   * `waiting`: the same with a budget that never ends.
   */
  readonly story: "done" | "silent" | "waiting"
  readonly sweepAll: boolean
  /** Interrupts the trial so long after the phase has begun. */
  readonly interrupt: { readonly phase: Phase; readonly afterMillis: number } | undefined
}

/** What was there when the trial had returned. */
export interface RealOutcome {
  readonly outcome: string | undefined
  readonly summary: TrialSummary
  /** Commands of processes that were neither the sandbox's nor the harness's own. */
  readonly left: ReadonlyArray<string>
  /** Logs whose size here is not their size in the sandbox: name, bytes here, bytes there. */
  readonly unlike: ReadonlyArray<readonly [name: string, here: number, there: number]>
  /** What was still there when the sandbox had been closed. */
  readonly leftAfterClose: ReadonlyArray<string>
}

/** A trial that hangs must not hang the tests. */
const LIMIT = "60 seconds"

/** Runs the case to its end. */
export const runReal = Effect.fnUntraced(function* (script: RealScript) {
  const marker = makeMarker()
  const layers = trialOver(TrialEvents.layer).pipe(Layer.provideMerge(markedWorld(marker)))
  const { namespace, ...seen } = yield* trialOf(script, marker).pipe(Effect.scoped, Effect.provide(layers))
  const outcome: RealOutcome = { ...seen, leftAfterClose: processesIn(namespace).map(({ command }) => command) }
  return outcome
}, Effect.timeout(LIMIT))

const trialOf = Effect.fnUntraced(function* (script: RealScript, marker: string) {
  const trial = yield* Trial
  const options = yield* mannerOptions(script.team, {
    sweep: script.sweepAll ? "all" : "stack",
    ...(script.story === "silent" ? { timeoutSeconds: 1 } : {})
  })
  const namespace = namespaceOf(marker)
  if (namespace === undefined) return yield* Effect.die(new Error("the sandbox has no process"))
  const fiber = yield* Effect.forkScoped(trial.run(options))
  const { interrupt } = script
  if (interrupt !== undefined)
    yield* Effect.andThen(awaitPhase(interrupt.phase), Effect.sleep(interrupt.afterMillis)).pipe(
      Effect.andThen(Effect.sync(() => fiber.interruptUnsafe())),
      Effect.forkScoped
    )
  yield* Effect.forkScoped(actOut(script))
  const exit = yield* Fiber.await(fiber)
  const summary = yield* readSummary(options.directory)
  return {
    namespace,
    outcome: Exit.isSuccess(exit) ? exit.value.outcome : undefined,
    summary,
    left: yield* leftIn(namespace, summary.sweep?.spared.length ?? 0),
    unlike: yield* unlikeLogs(options.directory)
  }
})

/** The pauses of a watch that was just closed are gone in a moment; whatever stays is left. */
const leftIn = (namespace: string, expected: number) =>
  Effect.sync(() => tenants(processesIn(namespace)).map(({ command }) => command)).pipe(
    Effect.repeat({
      until: (commands) => commands.length === expected,
      schedule: Schedule.max([Schedule.spaced("20 millis"), Schedule.recurs(100)])
    })
  )

/** What the team does once it has its task. */
const actOut = Effect.fnUntraced(
  function* ({ story, team }: RealScript) {
    yield* awaitEvent(({ _tag }) => _tag === "Waiting")
    yield* inside("touch /app/go")
    if (team.flat().includes("floods")) yield* inside("until [ -e /app/flooded ]; do sleep 0.02; done")
    if (story === "done") yield* leadSays("DONE: nothing was done")
  },
  // A team that is ended meanwhile says nothing.
  (effect) => Effect.ignore(effect)
)

const unlikeLogs = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const { exec } = yield* EnvironmentService
  const { stdout } = yield* exec("cd /opt/buzz/logs 2>/dev/null && wc -c *.log 2>/dev/null; :")
  const sizes = [...stdout.matchAll(/^ *(\d+) (.+\.log)$/gm)]
  return yield* Effect.filter(
    yield* Effect.forEach(sizes, ([, there = "", name = ""]) =>
      fs.stat(`${directory}/${inBundle(name)}`).pipe(
        Effect.map(({ size }) => [name, Number(size), Number(there)] as const),
        Effect.orElseSucceed(() => [name, -1, Number(there)] as const)
      )
    ),
    ([, here, there]) => Effect.succeed(here !== there && !(here === -1 && there === 0))
  )
})
