/** What becomes of what a trial leaves in the environment's folder of artifacts. */
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import { ArtifactManifest } from "@buzz-orchestra/runtime/ArtifactManifest"
import { ARTIFACTS, COLLECTED } from "@buzz-orchestra/runtime/BundleFiles"
import * as BundleVerification from "@buzz-orchestra/runtime/BundleVerification"
import { EnvironmentError, TransferFailed } from "@buzz-orchestra/runtime/EnvironmentError"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import * as Redaction from "@buzz-orchestra/runtime/Redaction"
import { RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { layerRuntime } from "@buzz-orchestra/runtime/TrialServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem, Layer, Redacted, Schema } from "effect"
import { awaitEvent, LEAD, readSummary, say, startTrial, trialLayer } from "./support/trial.ts"

const API_KEY = "api-key-of-the-test-model"
const FOLDER = "/logs/artifacts"

/** Runs a trial to its end whose environment has these files among the artifacts, by name. */
const runWith = Effect.fnUntraced(function* (files: Readonly<Record<string, string | Uint8Array>>) {
  const environment = yield* RecordingEnvironment
  const { fiber, options } = yield* startTrial({ apiKeys: { "test-model": Redacted.make(API_KEY) } })
  yield* awaitEvent(({ _tag }) => _tag === "Waiting")
  for (const [name, content] of Object.entries(files)) yield* environment.writeFile(`${FOLDER}/${name}`, content)
  yield* say(LEAD, "DONE: it is there")
  const { summary } = yield* Fiber.join(fiber)
  return { directory: options.directory, summary, listed: yield* listedIn(options.directory) }
})

const listedIn = Effect.fnUntraced(function* (directory: string) {
  const text = yield* FileSystem.FileSystem.use((fs) => fs.readFileString(`${directory}/${ARTIFACTS}`))
  const manifest = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(ArtifactManifest))(text)
  assert.lengthOf(manifest, 1)
  assert.deepInclude(manifest[0], { source: FOLDER, destination: COLLECTED, type: "directory", service: null })
  return manifest[0]?.status
})

/** Trials in whose environment this happens before a folder is handed out. */
const before = (happens: Effect.Effect<void, EnvironmentError, RecordingEnvironment>) => {
  const environment = Layer.effect(
    EnvironmentService,
    Effect.gen(function* () {
      const [inner, recording] = [yield* EnvironmentService, yield* RecordingEnvironment]
      const happening = Effect.provideService(happens, RecordingEnvironment, recording)
      return EnvironmentService.of({
        ...inner,
        downloadDirectory: (...given) => Effect.andThen(happening, inner.downloadDirectory(...given))
      })
    })
  )
  return Layer.fresh(layerRuntime).pipe(Layer.provide(environment), Layer.provideMerge(trialLayer()))
}

const refused = new EnvironmentError({
  operation: "EnvironmentService.download",
  reason: new TransferFailed({
    environment: "recording environment",
    direction: "download",
    path: FOLDER,
    detail: "the archive ended early"
  })
})

describe("artifacts", () => {
  it.effect("are mirrored below the trial directory, every byte of them, with their digests", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte)
      const { directory, listed, summary } = yield* runWith({ "report.txt": "fine\n", "deep/er/bytes": bytes })
      assert.strictEqual(listed, "ok")
      assert.deepStrictEqual(summary.warnings, [])
      assert.strictEqual(yield* fs.readFileString(`${directory}/${COLLECTED}/report.txt`), "fine\n")
      assert.deepStrictEqual(yield* fs.readFile(`${directory}/${COLLECTED}/deep/er/bytes`), bytes)
      assert.containsAllKeys(summary.digests, [
        `${COLLECTED}/buzz-evidence.json`,
        `${COLLECTED}/deep/er/bytes`,
        `${COLLECTED}/report.txt`
      ])
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("have no secret of the trial in them, nor in their names", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { directory, listed, summary } = yield* runWith({
        "env.txt": `one\nKEY=${API_KEY}\nlast`,
        [`${API_KEY}.txt`]: "named"
      })
      assert.strictEqual(yield* fs.readFileString(`${directory}/${COLLECTED}/env.txt`), "one\nKEY=[redacted]\nlast")
      assert.strictEqual(listed, "failed")
      assert.deepStrictEqual(summary.warnings, [
        "secrets were taken out of artifacts: env.txt",
        "artifacts that were not collected: [redacted].txt"
      ])
      assert.deepStrictEqual(summary.secret_scan.findings, [])
      assert.notInclude((yield* fs.readDirectory(directory, { recursive: true })).join("\n"), API_KEY)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("that have the name of something unfinished are left, and told", () =>
    Effect.gen(function* () {
      const { listed, summary } = yield* runWith({ "summary.json.unfinished": "{", "a\nb": "fine" })
      assert.strictEqual(listed, "failed")
      assert.deepStrictEqual(summary.warnings, ["artifacts that were not collected: summary.json.unfinished"])
      assert.property(summary.digests, `${COLLECTED}/a\nb`)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("that cannot be had never fail a trial", () =>
    Effect.gen(function* () {
      const { listed, summary } = yield* runWith({})
      assert.strictEqual(summary.outcome, "done")
      assert.strictEqual(listed, "failed")
      assert.match(summary.warnings.join("\n"), /^collect the artifacts: .*the archive ended early/)
    }).pipe(Effect.provide(before(Effect.fail(refused))))
  )

  it.effect("show that somebody changed the evidence after it was exported", () =>
    Effect.gen(function* () {
      const { directory, listed, summary } = yield* runWith({})
      assert.strictEqual(listed, "ok")
      assert.deepStrictEqual(summary.warnings, [])
      const verifying = BundleVerification.verify(directory, Redaction.make([]))
      const { problems } = yield* Effect.provide(verifying, ManifestService.layer)
      assert.deepStrictEqual(
        problems.map(({ path }) => path),
        [`${COLLECTED}/buzz-evidence.json`]
      )
      assert.match(problems[0]?.problem ?? "", /^it is not the evidence that was exported/)
    }).pipe(
      Effect.provide(
        before(RecordingEnvironment.use((inside) => inside.writeFile(`${FOLDER}/buzz-evidence.json`, "{}")))
      )
    )
  )

  it.effect("are skipped by a trial that never had a task", () =>
    Effect.gen(function* () {
      const { fiber, options } = yield* startTrial({ readinessTimeout: 0 })
      yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(yield* listedIn(options.directory), "skipped")
      const { journal } = yield* RecordingEnvironment
      assert.notInclude(
        (yield* journal).map(({ _tag }) => _tag),
        "DirectoryDownloaded"
      )
      assert.isEmpty((yield* readSummary(options.directory)).warnings)
    }).pipe(Effect.provide(trialLayer()))
  )
})
