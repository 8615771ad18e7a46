/** What is found when somebody changes a bundle, and what a bundle says of its trial to Harbor's tools. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import {
  ARTIFACTS,
  CONFIG,
  EVENTS,
  MANIFEST,
  programLog,
  RECEIPTS,
  RESULT,
  SUMMARY,
  TIMING
} from "@buzz-orchestra/runtime/BundleFiles"
import * as BundleFinish from "@buzz-orchestra/runtime/BundleFinish"
import * as BundleVerification from "@buzz-orchestra/runtime/BundleVerification"
import * as HarborTrial from "@buzz-orchestra/runtime/HarborTrial"
import * as Redaction from "@buzz-orchestra/runtime/Redaction"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, FileSystem, Layer, Redacted } from "effect"
import packageJson from "../package.json" with { type: "json" }
import { line } from "./support/logLines.ts"
import { awaitEvent, LEAD, say, startTrial, trialOnDisk, WORKER } from "./support/trial.ts"

const USAGE = line("acp::usage", "goose usage update session_id=s input=1000 output=20 cached=0", { level: "DEBUG" })
const API_KEY = Redacted.make("api-key-of-the-test-model")
const redactor = Redaction.make([API_KEY])

/** The directory of a trial in which the team spoke. */
class Spoken extends Context.Service<Spoken, string>()("test/Spoken") {
  static readonly layer = Layer.effect(
    Spoken,
    Effect.suspend(() => spoken)
  ).pipe(Layer.provide(Layer.fresh(trialOnDisk())))
}

const spoken = Effect.gen(function* () {
  const { fiber, options } = yield* startTrial()
  yield* awaitEvent(({ _tag }) => _tag === "Waiting")
  yield* TestStack.use((stack) => stack.print("worker-1", USAGE))
  yield* say(WORKER, "it is written", [LEAD.pubkey])
  yield* say(LEAD, "DONE: it is there")
  yield* Fiber.join(fiber)
  return options.directory
})

/** A copy of it, to change. */
const bundle = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const directory = `${yield* fs.makeTempDirectoryScoped()}/trial`
  yield* fs.copy(yield* Spoken, directory)
  return directory
})

const layers = Spoken.layer.pipe(Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer)))

const verify = (directory: string) =>
  BundleVerification.verify(directory, redactor).pipe(Effect.provide(ManifestService.layer))

type Change = (text: string) => string

/** Something changed in a bundle, and what is said of it. */
const CHANGES: ReadonlyArray<readonly [what: string, file: string, change: Change, said: RegExp]> = [
  ["a log", programLog("lead-1", "stdout"), (text) => `${text}more\n`, /lead-1\.stdout\.log: its sha256 is/],
  ["the condition", MANIFEST, (text) => text.replace(/"count":1/, '"count":2'), /manifest\.json: the sha256 of its/],
  [
    "a receipt",
    RECEIPTS,
    (text) => text.replace('"input_tokens":1000', '"input_tokens":1'),
    /worker-1: input_tokens is 1,/
  ],
  ["a message", EVENTS, (text) => text.replaceAll("it is written", "it was written"), /not the one that its id names/],
  [
    "the outcome",
    SUMMARY,
    (text) => text.replace('"outcome": "done"', '"outcome": "quiescent"'),
    /its outcome is quiescent/
  ],
  ["a total", SUMMARY, (text) => text.replace('"message_count": 3', '"message_count": 4'), /it counts 4 messages/],
  ["the form of a document", SUMMARY, () => "{}", /summary\.json/],
  ["the end of the events", EVENTS, (text) => text.slice(0, -20), /its last line has no end/]
]

layer(layers)("a bundle", (it) => {
  for (const [what, file, change, said] of CHANGES)
    it.effect(`in which somebody changed ${what} is not verified, and says so`, () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const directory = yield* bundle
        const path = `${directory}/${file}`
        const before = yield* fs.readFileString(path)
        assert.notStrictEqual(change(before), before, "the test changes nothing")
        yield* fs.writeFileString(path, change(before))
        const { problems } = yield* verify(directory)
        assert.match(problems.map(({ path, problem }) => `${path}: ${problem}`).join("\n"), said)
      })
    )

  it.effect("in which a file is new, gone, or holds a secret is not verified, and says where", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* bundle
      assert.deepInclude(yield* verify(directory), { problems: [], secrets: [] })
      yield* fs.writeFileString(`${directory}/verifier/reward.txt`, "1.0")
      assert.deepStrictEqual((yield* verify(directory)).problems, [])
      yield* fs.writeFileString(`${directory}/notes.txt`, `one\nthe key is ${Redacted.value(API_KEY)}\n`)
      yield* fs.remove(`${directory}/${TIMING}`)
      const { problems, secrets } = yield* verify(directory)
      assert.deepStrictEqual(secrets, [{ path: "notes.txt", line: 2, kind: "trial-credential" }])
      assert.deepStrictEqual(problems, [
        { path: TIMING, problem: "it is missing" },
        { path: "notes.txt", problem: "the summary does not know it" }
      ])
    })
  )

  it.effect("that is no directory, or is empty, is refused by name", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const empty = yield* fs.makeTempDirectoryScoped()
      for (const directory of [empty, `${empty}/missing`]) {
        const error = yield* Effect.flip(verify(directory))
        assert.strictEqual(error.directory, directory)
        const finishing = BundleFinish.finish(directory, redactor).pipe(Effect.provide(ManifestService.layer))
        assert.strictEqual((yield* Effect.flip(finishing))._tag, "BundleUnreadable")
      }
      assert.isFalse(yield* fs.exists(`${empty}/missing`))
    })
  )
})

layer(layers)("Harbor's documents", (it) => {
  it.effect("tell of the trial under Harbor's names, the result complete with its configuration", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* Spoken
      const result = JSON.parse(yield* fs.readFileString(`${directory}/${RESULT}`)) as Record<string, unknown>
      const config = JSON.parse(yield* fs.readFileString(`${directory}/${CONFIG}`)) as Record<string, unknown>
      assert.deepInclude(result, {
        trial_name: "trial",
        trial_uri: `file://${directory}`,
        agent_info: {
          name: "buzz-orchestra",
          version: packageJson.version,
          model_info: { name: "test-1", provider: null }
        },
        verifier_result: null,
        exception_info: null,
        step_results: null
      })
      assert.match(String(result["id"]), /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/)
      assert.deepInclude(result["agent_result"] as object, {
        n_input_tokens: 1000,
        n_output_tokens: 20,
        n_cache_tokens: 0
      })
      assert.deepInclude(result["config"] as object, { timeout_multiplier: 1, trial_name: "trial" })
      assert.deepInclude(config, { trial_name: "trial", verifier: { disable: true } })
      assert.strictEqual(HarborTrial.AGENT_VERSION, packageJson.version)
      const artifacts = JSON.parse(yield* fs.readFileString(`${directory}/${ARTIFACTS}`)) as unknown
      assert.isArray(artifacts)
    })
  )
})
