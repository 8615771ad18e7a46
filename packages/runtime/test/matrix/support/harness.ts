/**
 * A harness as a process of its own: runs the cases of its argument (`HarnessCase`s as JSON) at the same time, each in a world of
 * its own, and is stopped by signals in order, as the command is. It tells on stdout, one JSON value a line, which phase each
 * case has begun and where it holds.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Trial } from "@buzz-orchestra/runtime/Trial"
import type { Phase } from "@buzz-orchestra/runtime/TrialEvent"
import { TrialEvents } from "@buzz-orchestra/runtime/TrialEvents"
import { Effect, Layer } from "effect"
import { constants } from "node:os"
import { leadSays } from "../../support/realTrial.ts"
import { awaitEvent } from "../../support/trial.ts"
import type { HarnessCase, HarnessWord } from "./HarnessProcess.ts"
import { mannerOptions, markedWorld, trialOver } from "./RealTrial.ts"

/** Phases whose beginning nothing can interrupt; a case that holds in one of them goes on when it is asked to stop. */
const UNINTERRUPTIBLE: ReadonlySet<Phase> = new Set<Phase>(["prepare", "provision", "settle", "sweep", "collect"])

const say = (word: HarnessWord): void => void process.stdout.write(`${JSON.stringify(word)}\n`)

const stop = Promise.withResolvers<void>()

/** Events that come to a halt at the beginning of the phase in which the case holds. */
const holdingEvents = (index: number, hold: Phase | undefined) =>
  Layer.effect(
    TrialEvents,
    TrialEvents.useSync((inner) =>
      TrialEvents.of({
        stream: inner.stream,
        publish: (happening) =>
          Effect.suspend(() => {
            if (happening._tag !== "PhaseStarted") return inner.publish(happening)
            const { phase } = happening
            say({ case: index, phase })
            if (phase !== hold) return inner.publish(happening)
            say({ case: index, held: phase })
            return UNINTERRUPTIBLE.has(phase)
              ? Effect.andThen(
                  Effect.promise(() => stop.promise),
                  inner.publish(happening)
                )
              : Effect.never
          })
      })
    )
  ).pipe(Layer.provide(TrialEvents.layer))

const run = ({ directory, hold, marker, story, team }: HarnessCase, index: number) =>
  Effect.gen(function* () {
    const trial = yield* Trial
    const options = yield* mannerOptions(team, { directory })
    if (story === "done")
      yield* awaitEvent(({ _tag }) => _tag === "Waiting").pipe(
        Effect.andThen(leadSays("DONE: nothing was done")),
        Effect.forkScoped
      )
    yield* Effect.ignoreCause(trial.run(options))
  }).pipe(
    Effect.scoped,
    Effect.provide(trialOver(holdingEvents(index, hold)).pipe(Layer.provideMerge(markedWorld(marker))))
  )

const cases = JSON.parse(process.argv[2] ?? "[]") as ReadonlyArray<HarnessCase>
// One platform for all: each of its own would listen to stdin.
const program = Effect.provide(
  Effect.forEach(cases, run, { concurrency: "unbounded", discard: true }),
  NodeServices.layer
)
const fiber = Effect.runFork(program)
let code = 0
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => {
    code = 128 + constants.signals[signal]
    stop.resolve()
    fiber.interruptUnsafe()
  })
fiber.addObserver((exit) => {
  if (exit._tag === "Failure" && code === 0) process.stderr.write(`${exit.cause}\n`)
  process.exit(exit._tag === "Failure" && code === 0 ? 1 : code)
})
