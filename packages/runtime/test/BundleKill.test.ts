/**
 * A harness that is killed at any instant: the disk takes nothing more from then on, and what it was writing is torn.
 */
import * as NodePath from "@effect/platform-node/NodePath"
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import * as Atif from "@buzz-orchestra/runtime/Atif"
import {
  EVIDENCE,
  EVIDENCE_ERROR,
  EXCEPTION,
  MANIFEST,
  TRAJECTORY,
  TRANSCRIPT
} from "@buzz-orchestra/runtime/BundleFiles"
import * as BundleFinish from "@buzz-orchestra/runtime/BundleFinish"
import * as BundleVerification from "@buzz-orchestra/runtime/BundleVerification"
import * as Redaction from "@buzz-orchestra/runtime/Redaction"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import * as TestTrial from "@buzz-orchestra/runtime/testing/TestTrial"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem, Layer, Result, Schema } from "effect"
import * as Cases from "./matrix/support/Cases.ts"
import { DyingDisk } from "./support/dyingDisk.ts"
import { MemoryFiles } from "./support/MemoryFiles.ts"
import { line } from "./support/logLines.ts"
import { awaitEvent, LEAD, say, startTrial } from "./support/trial.ts"

/** One disk in memory for those who write and those who read. */
const platform = Layer.mergeAll(
  Layer.succeed(FileSystem.FileSystem, new MemoryFiles(() => Effect.void).service()),
  NodePath.layer
)
const reading = ManifestService.layer.pipe(Layer.provideMerge(platform))
/** What the lead says that it used. */
const USAGE = line("acp::usage", "goose usage update session_id=s input=1000 output=20 cached=0", { level: "DEBUG" })
/** Whose verifier grades what happened on the relay. */
const TASK = "reply-to-thread"
const NO_SECRETS = Redaction.make([])

/** Runs a trial whose disk dies with its `writes`-th write; where its directory is, and how often it wrote. */
const trialWith = Effect.fnUntraced(function* (writes: number) {
  const disk = new DyingDisk(writes)
  const directory = yield* FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped())
  yield* Effect.gen(function* () {
    const { fiber } = yield* startTrial({ directory: `${directory}/trial`, evidenceFor: TASK })
    yield* awaitEvent(({ _tag }) => _tag === "Waiting").pipe(
      Effect.andThen(TestStack.use((stack) => stack.print("lead-1", USAGE))),
      Effect.andThen(say(LEAD, "DONE: it is there")),
      // Without its directory a trial ends before anybody waits.
      Effect.raceFirst(Fiber.await(fiber))
    )
    yield* Fiber.await(fiber)
  }).pipe(
    Effect.scoped,
    // Its own manifests, on files in memory: those that bundles are read with are others.
    Effect.provide(
      Layer.fresh(TestTrial.layerWith()).pipe(
        Layer.provideMerge(disk.layer(`${directory}/`)),
        Layer.provideMerge(platform)
      )
    )
  )
  return { directory: `${directory}/trial`, writes: disk.writes }
})

/** What was drawn up later is what the trial would have written, as far as it is known, and says so. */
const tellsAll = Effect.fnUntraced(function* (directory: string, { summary, written }: BundleFinish.Finished) {
  const fs = yield* FileSystem.FileSystem
  const json = (name: string) =>
    Effect.map(fs.readFileString(`${directory}/${name}`), (text) => JSON.parse(text) as Record<string, unknown>)
  const trajectory = Atif.decode(yield* json(TRAJECTORY))
  assert.isTrue(Result.isSuccess(trajectory))
  const evidence = yield* json(EVIDENCE)
  const { message_count, truncated } = yield* json(TRANSCRIPT)
  assert.deepInclude(evidence, { schema_version: 1, task_name: TASK, message_count })
  if (!written.includes(EVIDENCE)) return
  assert.deepInclude(evidence, { truncated: true, directory: [], observed_channels: [] })
  assert.strictEqual(truncated, written.includes(TRANSCRIPT))
  assert.match(
    yield* fs.readFileString(`${directory}/${EVIDENCE_ERROR}`),
    /was killed: buzz-evidence\.json was drawn up/
  )
  assert.isNull(summary.evidence)
  assert.strictEqual(written.includes(EXCEPTION), summary.outcome === null)
})

describe("a harness that is killed", () => {
  it.effect("writes so often that the instants below are all of a trial", () =>
    Effect.gen(function* () {
      const { directory, writes } = yield* trialWith(Number.POSITIVE_INFINITY)
      assert.isAbove(writes, 60)
      assert.isBelow(writes, INSTANTS)
      const { problems, secrets } = yield* BundleVerification.verify(directory, NO_SECRETS)
      assert.deepStrictEqual({ problems, secrets }, { problems: [], secrets: [] })
      assert.deepStrictEqual((yield* BundleFinish.finish(directory, NO_SECRETS)).written, [])
    }).pipe(Effect.provide(reading))
  )

  it.effect.prop(
    "leaves a bundle that finish completes and verify finds nothing wrong with",
    { instant: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: INSTANTS })) },
    ({ instant }) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { directory } = yield* trialWith(instant)
        const finished = yield* Effect.result(BundleFinish.finish(directory, NO_SECRETS))
        if (finished._tag === "Failure") {
          // Nothing that tells of a trial was written yet.
          const begun = yield* fs.exists(`${directory}/${MANIFEST}`)
          return assert.isFalse(begun, finished.failure.detail)
        }
        const { problems, secrets } = yield* BundleVerification.verify(directory, NO_SECRETS)
        assert.deepStrictEqual({ problems, secrets }, { problems: [], secrets: [] })
        yield* tellsAll(directory, finished.success)
        assert.deepStrictEqual((yield* BundleFinish.finish(directory, NO_SECRETS)).written, [])
      }).pipe(Effect.scoped, Effect.provide(reading)),
    { arbitrary: Cases.options(20, 200), timeout: Cases.timeout(60_000) }
  )
})

/** More than a trial writes. */
const INSTANTS = 200
