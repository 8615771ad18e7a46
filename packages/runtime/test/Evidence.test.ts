import { RelayRefused } from "@buzz-orchestra/relay/RelayError"
import { testIdentity } from "@buzz-orchestra/relay/testing/TestIdentity"
import { TestRelay } from "@buzz-orchestra/relay/testing/TestRelay"
import { EnvironmentError, EnvironmentLost } from "@buzz-orchestra/runtime/EnvironmentError"
import { RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem, Layer, Redacted, Schema } from "effect"
import { EnvironmentService } from "../src/EnvironmentService.ts"
import { layerRuntime } from "../src/TrialServices.ts"
import {
  awaitEvent,
  CHANNEL,
  LEAD,
  readSummary,
  runToDone,
  say,
  startTrial,
  trialLayer,
  USER,
  WORKER
} from "./support/trial.ts"

const PATH = "/logs/artifacts/buzz-evidence.json"
const graded = { evidenceFor: "reply-to-thread" }

const Message = Schema.Struct({ author: Schema.String, author_role: Schema.String, content: Schema.String })
const Evidence = Schema.fromJsonString(
  Schema.Struct({
    schema_version: Schema.Literal(1),
    task_name: Schema.String,
    trial: Schema.Struct({ run_id: Schema.String, trial_id: Schema.String, channel_id: Schema.String }),
    task_event_id: Schema.NullOr(Schema.String),
    completion_message_id: Schema.NullOr(Schema.String),
    identities: Schema.Record(Schema.String, Schema.Struct({ pubkey: Schema.String, role: Schema.String })),
    truncated: Schema.Boolean,
    message_count: Schema.Int,
    messages: Schema.Array(Message)
  })
)

/** What a verifier would find in the environment. */
const found = Effect.gen(function* () {
  const files = yield* RecordingEnvironment.use(({ files }) => files)
  const content = files.get(PATH)?.content
  if (content === undefined || Redacted.isRedacted(content)) return yield* Effect.die(new Error("no evidence"))
  return yield* Schema.decodeUnknownEffect(Evidence)(new TextDecoder().decode(content))
})

/** Trials in an environment that loses this file on its way in. */
const refusing = (path: string) => {
  const environment = Layer.effect(
    EnvironmentService,
    EnvironmentService.use((inner) =>
      Effect.succeed({
        ...inner,
        upload: (source: Parameters<typeof inner.upload>[0], target: string, options?: { readonly mode?: number }) =>
          target === path
            ? Effect.fail(
                new EnvironmentError({
                  operation: "upload",
                  reason: new EnvironmentLost({ environment: "the box", detail: "out of memory", exitCode: 137 })
                })
              )
            : inner.upload(source, target, options)
      })
    )
  )
  return Layer.fresh(layerRuntime).pipe(Layer.provide(environment), Layer.provideMerge(trialLayer()))
}

describe("the evidence of a trial", () => {
  it.effect("lies where the verifier looks, after the stack has ended, with what happened and who was who", () =>
    Effect.gen(function* () {
      const { fiber, options } = yield* startTrial(graded)
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* say(testIdentity(9), "hello from outside")
      yield* say(WORKER, "42")
      yield* say(LEAD, "DONE: 42")
      const { completion, summary } = yield* Fiber.join(fiber)
      const evidence = yield* found
      assert.deepInclude(evidence, {
        task_name: "reply-to-thread",
        trial: { run_id: "run", trial_id: options.trialId, channel_id: CHANNEL },
        task_event_id: summary.task_event_id,
        completion_message_id: completion?.id ?? null,
        truncated: false,
        message_count: 4,
        identities: {
          "lead-1": { pubkey: LEAD.pubkey, role: "orchestrator" },
          user: { pubkey: USER.pubkey, role: "user" },
          "worker-1": { pubkey: WORKER.pubkey, role: "worker" }
        }
      })
      assert.deepStrictEqual(
        evidence.messages.map(({ author, author_role }) => [author, author_role]),
        [
          ["user", "user"],
          ["unknown", "unknown"],
          ["worker-1", "worker"],
          ["lead-1", "orchestrator"]
        ]
      )
      const programs = yield* TestStack.use(({ programs }) => programs)
      assert.isTrue([...programs.values()].every(({ alive }) => !alive))
      const fs = yield* FileSystem.FileSystem
      assert.include(yield* fs.readFileString(`${options.directory}/buzz-evidence.json`), '"reply-to-thread"')
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("says that something may be missing when the relay did not complete it", () =>
    Effect.gen(function* () {
      const { fiber } = yield* startTrial(graded)
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      const refused = new RelayRefused({ url: "ws://r", status: 403, detail: "restricted" })
      yield* TestRelay.use((relay) => relay.failNext("readChannel", refused))
      yield* say(LEAD, "DONE: it is there")
      assert.strictEqual((yield* Fiber.join(fiber)).outcome, "done")
      assert.isTrue((yield* found).truncated)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("that does not get there fails the trial, because an absence would be graded as a wrong answer", () =>
    Effect.gen(function* () {
      const { fiber, options } = yield* startTrial(graded)
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* say(LEAD, "DONE: it is there")
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.deepInclude(error.reason, { _tag: "EvidenceNotExported", path: PATH })
      assert.match(error.message, /^collect: .*out of memory.*must not be scored/)
      const summary = yield* readSummary(options.directory)
      assert.deepInclude(summary.error, { phase: "collect", reason: "EvidenceNotExported" })
      const fs = yield* FileSystem.FileSystem
      assert.match(yield* fs.readFileString(`${options.directory}/buzz-evidence-error.txt`), /out of memory/)
    }).pipe(Effect.provide(refusing(PATH)))
  )

  it.effect("is nobody's business where nothing is graded by it", () =>
    Effect.gen(function* () {
      const { result } = yield* runToDone()
      assert.strictEqual(result.outcome, "done")
      assert.isFalse((yield* RecordingEnvironment.use(({ files }) => files)).has(PATH))
    }).pipe(Effect.provide(trialLayer()))
  )
})
