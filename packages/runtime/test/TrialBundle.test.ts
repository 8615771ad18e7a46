/** What a trial leaves in its directory. */
import { conditionWith, PROMPT_TEXT } from "@buzz-orchestra/manifest/testing/TestManifest"
import { testIdentity, signedBy } from "@buzz-orchestra/relay/testing/TestIdentity"
import { TestRelay } from "@buzz-orchestra/relay/testing/TestRelay"
import {
  ENDPOINTS,
  EVENTS,
  inBundle,
  MANIFEST,
  programLog,
  promptName,
  TRANSCRIPT
} from "@buzz-orchestra/runtime/BundleFiles"
import { EnvironmentError, EnvironmentLost } from "@buzz-orchestra/runtime/EnvironmentError"
import { exited, RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem, Redacted } from "effect"
import {
  awaitEvent,
  CHANNEL,
  eventsOf,
  LEAD,
  readSummary,
  runToDone,
  say,
  startTrial,
  trialLayer,
  WORKER
} from "./support/trial.ts"

const readJson = (directory: string, name: string) =>
  Effect.map(
    FileSystem.FileSystem.use((fs) => fs.readFileString(`${directory}/${name}`)),
    (text) => JSON.parse(text) as Record<string, unknown>
  )

describe("the trial directory", () => {
  it.effect("holds everything that the summary lists", () =>
    Effect.gen(function* () {
      const { options, result } = yield* runToDone()
      assert.deepStrictEqual(
        result.summary.files.filter((name) => !name.startsWith("phases/")),
        [
          "buzz-evidence.json",
          "endpoints.redacted.json",
          "events.ndjson",
          "lead-1.stdout.log",
          "lead-1.system-prompt.md",
          "manifest.json",
          "receipts.jsonl",
          "timing.json",
          "transcript.json",
          "worker-1.stdout.log",
          "worker-1.system-prompt.md"
        ]
      )
      assert.deepStrictEqual(
        result.summary.files.filter((name) => name.startsWith("phases/")),
        result.summary.phases.map(({ phase }) => `phases/${phase}.log`).toSorted()
      )
      assert.strictEqual(result.directory, options.directory)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("holds the condition as it was hashed, large integers included", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const condition = conditionWith({
        roster: [{ id: "lead" }, { id: "worker" }],
        metadata: { large: 12_345_678_901_234_567_890n }
      })
      const { options } = yield* runToDone({ condition })
      const text = yield* fs.readFileString(`${options.directory}/${MANIFEST}`)
      assert.include(text, condition.canonical)
      assert.include(text, "12345678901234567890")
      assert.deepInclude(JSON.parse(text), { sha256: condition.sha256, dialect: "trunk" })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("holds the endpoints without any value of theirs", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const env = { OPENROUTER_PROVIDER_ORDER: "hidden-value", A_TOKEN: "hidden-value" }
      const { options } = yield* runToDone({
        endpoints: { "test-model": { provider: "openrouter", api_key_env: "OPENROUTER_API_KEY", env } }
      })
      assert.deepStrictEqual(yield* readJson(options.directory, ENDPOINTS), {
        "test-model": {
          provider: "openrouter",
          api_key_env: "OPENROUTER_API_KEY",
          env_keys: ["A_TOKEN", "OPENROUTER_PROVIDER_ORDER"]
        }
      })
      assert.notInclude(yield* fs.readFileString(`${options.directory}/${ENDPOINTS}`), "hidden-value")
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("holds each agent's prompt as it was uploaded, for its owner's eyes only", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { options } = yield* runToDone()
      const path = `${options.directory}/${inBundle(promptName("lead-1"))}`
      const prompt = yield* fs.readFileString(path)
      assert.isTrue(prompt.startsWith(PROMPT_TEXT))
      assert.include(prompt, `| worker-1 | worker | \`${WORKER.pubkey}\` |`)
      assert.strictEqual((yield* fs.stat(path)).mode & 0o777, 0o600)
      const files = yield* RecordingEnvironment.use(({ files }) => files)
      const uploaded = files.get("/opt/buzz/prompts/lead-1.system-prompt.md")
      assert.strictEqual(new TextDecoder().decode(uploaded?.content as Uint8Array), prompt)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("holds the logs as they were written, secrets taken out", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const apiKey = Redacted.make("api-key-of-the-test-model")
      const { fiber, options } = yield* startTrial({ apiKeys: { "test-model": apiKey } })
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      const stack = yield* TestStack
      yield* stack.print(
        "worker-1",
        `key ${Redacted.value(LEAD.secretKey)} and ${Redacted.value(apiKey)} end`,
        "stderr"
      )
      yield* say(LEAD, "DONE: it is there")
      const { summary } = yield* Fiber.join(fiber)
      assert.deepStrictEqual(summary.warnings, [])
      assert.strictEqual(
        yield* fs.readFileString(`${options.directory}/${programLog("worker-1", "stderr")}`),
        "key [redacted] and [redacted] end\n"
      )
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("holds the transcript in the order of sight, with names, strangers and replies", () =>
    Effect.gen(function* () {
      const { fiber, options } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      const stranger = testIdentity(99)
      yield* say(WORKER, "working", [LEAD.pubkey])
      yield* say(stranger, `psst ${Redacted.value(WORKER.secretKey)}`)
      yield* say(LEAD, "DONE: it is there")
      yield* Fiber.join(fiber)
      const transcript = yield* readJson(options.directory, TRANSCRIPT)
      const messages = transcript["messages"] as ReadonlyArray<Record<string, unknown>>
      assert.deepInclude(transcript, { channel_id: CHANNEL, message_count: 4, truncated: false })
      assert.deepStrictEqual(
        messages.map(({ author, author_role, content }) => [author, author_role, content]),
        [
          ["user", "user", "@lead-1 write hello.txt"],
          ["worker-1", "worker", "working"],
          [`stranger ${stranger.pubkey.slice(0, 8)}`, "unknown", "psst [redacted]"],
          ["lead-1", "orchestrator", "DONE: it is there"]
        ]
      )
      assert.deepStrictEqual(messages[1]?.["mentioned_pubkeys"], [LEAD.pubkey])
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("has no line for reactions that agents take back", () =>
    Effect.gen(function* () {
      const { fiber } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      const tags: ReadonlyArray<readonly [string, ...Array<string>]> = [
        ["h", CHANNEL],
        ["e", "a".repeat(64)]
      ]
      yield* TestRelay.use((relay) => relay.push(signedBy(LEAD, { kind: 5, tags: tags.map((tag) => [...tag]) })))
      yield* say(LEAD, "DONE: it is there")
      const { summary } = yield* Fiber.join(fiber)
      assert.strictEqual(summary.message_count, 2)
      const seen = (yield* eventsOf).filter(({ _tag }) => _tag === "MessageSeen")
      assert.strictEqual(seen.length, 2)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("gets a log from the environment when the watch did not deliver all of it", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const environment = yield* RecordingEnvironment
      const { fiber, options } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* environment.writeFile("/opt/buzz/logs/lead-1.stdout.log", "the whole log\n")
      yield* environment.answer((command) =>
        command.includes("for f in *.log") ? exited(0, { stdout: "size 1000 lead-1.stdout.log\n" }) : undefined
      )
      yield* environment.failWatch(
        new EnvironmentError({
          operation: "EnvironmentService.watch",
          reason: new EnvironmentLost({ environment: "recording", detail: "the watch was killed", exitCode: undefined })
        })
      )
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error.reason._tag, "EnvironmentLost")
      assert.strictEqual(
        yield* fs.readFileString(`${options.directory}/${programLog("lead-1", "stdout")}`),
        "the whole log\n"
      )
      const summary = yield* readSummary(options.directory)
      assert.match(summary.warnings.join("\n"), /the watch was killed/)
      assert.match(summary.warnings.join("\n"), /bytes of lead-1\.stdout\.log did not come through the watch/)
      assert.deepInclude(summary.error, { phase: "observe", reason: "EnvironmentLost" })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("is written for a trial that could not be prepared", () =>
    Effect.gen(function* () {
      const { fiber, options } = yield* startTrial({ readinessTimeout: 0 })
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error.reason._tag, "ConfigurationOutOfBounds")
      const summary = yield* readSummary(options.directory)
      assert.deepInclude(summary.error, { phase: "prepare", reason: "ConfigurationOutOfBounds" })
      assert.deepInclude(summary, { channel_id: null, agents: [], sweep: null, message_count: 0 })
      const documents = ["endpoints.redacted.json", "events.ndjson", "manifest.json", "timing.json"]
      for (const name of documents) assert.include(summary.files, name)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("that cannot be made is the reason, before anything else is looked at", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const root = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFileString(`${root}/file`, "")
      const { fiber } = yield* startTrial({ directory: `${root}/file/trial` })
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error.reason._tag, "TrialDirectoryUnwritable")
      assert.deepInclude((yield* eventsOf).at(-1), { _tag: "TrialEnded", outcome: undefined })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("of an earlier trial is begun anew: nothing of it is taken for the next one's", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { options } = yield* runToDone()
      const { fiber } = yield* startTrial({ ...options, trialId: "second", readinessTimeout: 0 })
      yield* Effect.flip(Fiber.join(fiber))
      const events = (yield* fs.readFileString(`${options.directory}/${EVENTS}`)).trimEnd().split("\n")
      for (const event of events)
        assert.strictEqual((JSON.parse(event) as Record<string, unknown>)["trialId"], "second")
      const { files, trial_id } = yield* readSummary(options.directory)
      assert.strictEqual(trial_id, "second")
      assert.notInclude(files, "transcript.json")
      assert.deepStrictEqual(
        files.filter((name) => name.startsWith("phases/")),
        ["phases/prepare.log"]
      )
    }).pipe(Effect.provide(trialLayer()))
  )
})
