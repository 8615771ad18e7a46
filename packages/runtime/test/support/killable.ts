/**
 * A harness that is there to be killed, as a process of its own: each of its lanes runs one trial after the other over doubles, at a
 * random pace, into directories on the real disk. It never ends by itself, but does with whoever started it. There is a
 * character on stdout for every few steps that its trials take.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as AgentSupervisorLive from "@buzz-orchestra/runtime/AgentSupervisorLive"
import * as StackInstallerLive from "@buzz-orchestra/runtime/StackInstallerLive"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import * as TestTrial from "@buzz-orchestra/runtime/testing/TestTrial"
import { Trial } from "@buzz-orchestra/runtime/Trial"
import { TrialEvents } from "@buzz-orchestra/runtime/TrialEvents"
import * as TrialLive from "@buzz-orchestra/runtime/TrialLive"
import * as TrialRuntimeLive from "@buzz-orchestra/runtime/TrialRuntimeLive"
import type { TrialOptions } from "@buzz-orchestra/runtime/TrialOptions"
import { Effect, Layer, Random, Redacted } from "effect"
import { type Killable, SECRETS, STEPS_TOLD } from "./killed.ts"
import { pacedDisk } from "./pacedDisk.ts"
import { awaitEvent, LEAD, say, WORKER } from "./trial.ts"

/** How long each change of the disk takes at most, in milliseconds, at the pace 1. */
const CHANGE = 3

/** How long each phase, and each thing that an agent does, takes at most. */
const STEP = 80

/** One trial is over while another begins. */
const PACES = [0.2, 0.5, 1, 2] as const

/** A trial that ends well, one whose worker dies, and one that is never launched. */
const STORIES = ["done", "done", "dies", "not launched"] as const

const { directory, lanes, seed } = JSON.parse(process.argv[2] ?? "{}") as Killable

const platform = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer)

let taken = 0

/** Waits for less than `most` milliseconds, and lets whoever counts know. */
const step = (most: number): Effect.Effect<void> =>
  Effect.flatMap(Random.nextIntBetween(0, Math.ceil(most)), (millis) => {
    if (++taken % STEPS_TOLD === 0) process.stdout.write(".")
    return millis === 0 ? Effect.void : Effect.sleep(millis)
  })

/** Phases and the steps of the clean-up begin as slowly as if something had happened before. */
const pacedEvents = (pace: number) =>
  Layer.effect(
    TrialEvents,
    TrialEvents.useSync((inner) =>
      TrialEvents.of({
        stream: inner.stream,
        publish: (happening) => {
          const told = inner.publish(happening)
          if (happening._tag === "PhaseStarted") return Effect.andThen(told, step(STEP * pace))
          return happening._tag === "StepEnded" ? Effect.andThen(told, step(CHANGE * pace)) : told
        }
      })
    )
  )

/** Fresh: the doubles have a trial of their own, whose events take no time. */
const trialAt = (pace: number) =>
  Layer.fresh(
    TrialLive.layer.pipe(
      Layer.provide(TrialRuntimeLive.layer),
      Layer.provide([AgentSupervisorLive.layer, StackInstallerLive.layer]),
      Layer.provideMerge(pacedEvents(pace))
    )
  )

const worldAt = (pace: number) =>
  trialAt(pace).pipe(
    Layer.provideMerge(TestTrial.layerWith()),
    Layer.provideMerge(pacedDisk(directory, step(CHANGE * pace))),
    Layer.provideMerge(platform)
  )

/** What the agents do from when the task is posted; one of them says what it must not. */
const play = Effect.fnUntraced(function* (story: (typeof STORIES)[number], pace: number) {
  const stack = yield* TestStack
  const pause = step(STEP * pace)
  yield* awaitEvent(({ _tag }) => _tag === "Waiting")
  yield* stack.turn("lead-1")
  yield* say(LEAD, "please write it", [WORKER.pubkey])
  for (const secret of SECRETS) {
    yield* pause
    yield* stack.print("worker-1", `my key is ${Redacted.value(secret)}`, "stderr")
  }
  yield* pause
  if (story === "dies") return yield* stack.die("worker-1", 137)
  yield* stack.turn("worker-1")
  yield* say(WORKER, "it is written", [LEAD.pubkey])
  yield* pause
  yield* stack.turn("lead-1")
  yield* say(LEAD, "DONE: it is there")
})

const run = Effect.fnUntraced(function* (options: TrialOptions, pace: number) {
  const trial = yield* Trial
  const story = yield* Random.choice(STORIES)
  if (story === "not launched") yield* TestStack.use((stack) => stack.failNext("worker-1", 1, "no such model"))
  else yield* Effect.forkScoped(play(story, pace))
  yield* Effect.ignore(trial.run(options))
})

/** Each at a moment of its own from the beginning. */
const lane = Effect.fnUntraced(function* (options: TrialOptions, index: number) {
  yield* step(STEP * 2)
  for (let n = 0; ; n++) {
    const pace = yield* Random.choice(PACES)
    yield* run({ ...options, directory: `${directory}/${index}-${n}` }, pace).pipe(
      Effect.scoped,
      Effect.provide(Layer.fresh(worldAt(pace))),
      Effect.catchCause(Effect.logError)
    )
  }
})

const program = Effect.gen(function* () {
  // One stack for all: nobody changes it.
  const options = yield* TestTrial.testTrialOptions({ apiKeys: { "test-model": SECRETS[0] } })
  const indices = Array.from({ length: lanes }, (_, index) => index)
  const all = indices.map((index) => Random.withSeed(lane(options, index), `${seed} ${index}`))
  yield* Effect.all(all, { concurrency: "unbounded", discard: true })
})

process.stdin.resume().on("end", () => process.exit(1))
Effect.runFork(program.pipe(Effect.scoped, Effect.provide(platform)))
