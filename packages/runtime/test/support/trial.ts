/**
 * A trial of the doubles, started in the background and driven by what it tells.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { MemoryFiles } from "./MemoryFiles.ts"
import { testIdentity } from "@buzz-orchestra/relay/testing/TestIdentity"
import { TestRelay } from "@buzz-orchestra/relay/testing/TestRelay"
import { SUMMARY } from "@buzz-orchestra/runtime/BundleFiles"
import * as TestTrial from "@buzz-orchestra/runtime/testing/TestTrial"
import { Trial } from "@buzz-orchestra/runtime/Trial"
import type { Phase, TrialEvent } from "@buzz-orchestra/runtime/TrialEvent"
import { TrialEvents } from "@buzz-orchestra/runtime/TrialEvents"
import type { TrialOptions } from "@buzz-orchestra/runtime/TrialOptions"
import { TrialSummary } from "@buzz-orchestra/runtime/TrialSummary"
import { Effect, Fiber, FileSystem, Layer, Option, Schema, Stream } from "effect"

/** Every double of a trial, and a disk in memory: a real one would take most of a test's time. */
export const trialLayer = (options?: TestTrial.TestTrialLayerOptions) =>
  TestTrial.layerWith(options).pipe(
    Layer.provideMerge(
      Layer.merge(
        Layer.sync(FileSystem.FileSystem, () => new MemoryFiles(() => Effect.void).service()),
        NodePath.layer
      )
    )
  )

/** The same on the real file system, for those who look at it from elsewhere. */
export const trialOnDisk = (options?: TestTrial.TestTrialLayerOptions) =>
  TestTrial.layerWith(options).pipe(Layer.provideMerge(Layer.merge(NodeFileSystem.layer, NodePath.layer)))

/** The identities that the provisioner's double hands out. */
export const USER = testIdentity(1)
export const LEAD = testIdentity(2)
export const WORKER = testIdentity(3)
export const CHANNEL = "99999999-8888-4777-8666-555555555555"

/** Starts a trial on a fiber of its own. */
export const startTrial = Effect.fnUntraced(function* (fields: Partial<TrialOptions> = {}) {
  const trial = yield* Trial
  const options = yield* TestTrial.testTrialOptions(fields)
  const fiber = yield* Effect.forkScoped(trial.run(options))
  return { options, fiber }
})

/** The first event of the trial that holds; those that came before count. */
export const awaitEvent = Effect.fnUntraced(function* (holds: (event: TrialEvent) => boolean) {
  const { stream } = yield* TrialEvents
  const found = yield* Stream.runHead(Stream.filter(stream, holds))
  return Option.getOrThrow(found)
})

/** Returns when a phase has begun. */
export const awaitPhase = (phase: Phase) =>
  awaitEvent((event) => event._tag === "PhaseStarted" && event.phase === phase)

/** Every event of a trial that has ended. */
export const eventsOf = Effect.gen(function* () {
  const { stream } = yield* TrialEvents
  return yield* Stream.runCollect(Stream.takeUntil(stream, ({ _tag }) => _tag === "TrialEnded"))
})

/** Somebody says something in the trial's channel. */
export const say = (identity: typeof LEAD, content: string, mentions: ReadonlyArray<string> = []) =>
  TestRelay.use((relay) => relay.say(identity, { channelId: CHANNEL, content, mentions }))

/** Runs a trial to its end, with `DONE:` by the lead as soon as it observes. */
export const runToDone = Effect.fnUntraced(function* (fields: Partial<TrialOptions> = {}) {
  const { fiber, options } = yield* startTrial(fields)
  yield* awaitEvent(({ _tag, trialId }) => _tag === "Waiting" && trialId === options.trialId)
  yield* say(LEAD, "DONE: it is there")
  return { options, result: yield* Fiber.join(fiber) }
})

/** `summary.json` as it lies in the trial directory, checked against its schema. */
export const readSummary = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* fs.readFileString(`${directory}/${SUMMARY}`)
  return yield* Schema.decodeUnknownEffect(Schema.fromJsonString(TrialSummary))(text)
})
