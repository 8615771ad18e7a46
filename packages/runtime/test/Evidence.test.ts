import { conditionWith } from "@buzz-orchestra/manifest/testing/TestManifest"
import { sha256 } from "@buzz-orchestra/manifest/Sha256"
import { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import { RelayRefused } from "@buzz-orchestra/relay/RelayError"
import { testIdentity } from "@buzz-orchestra/relay/testing/TestIdentity"
import { testTrialHandle } from "@buzz-orchestra/relay/testing/TestTrialHandle"
import { TestRelay } from "@buzz-orchestra/relay/testing/TestRelay"
import { EnvironmentError, EnvironmentLost } from "@buzz-orchestra/runtime/EnvironmentError"
import { RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import { EVIDENCE, EVIDENCE_ERROR, TRANSCRIPT } from "@buzz-orchestra/runtime/BundleFiles"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem, Layer, Redacted, Schema } from "effect"
import { EnvironmentService } from "../src/EnvironmentService.ts"
import { other, peopleOf } from "../src/internal/channelView.ts"
import { evidence } from "../src/internal/evidence.ts"
import { sortedJson } from "../src/internal/sortedJson.ts"
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
      assert.include(yield* fs.readFileString(`${options.directory}/${EVIDENCE}`), '"reply-to-thread"')
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
      assert.match(yield* fs.readFileString(`${options.directory}/${EVIDENCE_ERROR}`), /out of memory/)
    }).pipe(Effect.provide(refusing(PATH)))
  )

  it.effect("is nobody's business where nothing is graded by it", () =>
    Effect.gen(function* () {
      const { options, result } = yield* runToDone()
      assert.strictEqual(result.outcome, "done")
      assert.match(result.summary.warnings.join("\n"), /export the evidence: .*out of memory/)
      assert.isNull(result.summary.evidence)
      const fs = yield* FileSystem.FileSystem
      assert.match(yield* fs.readFileString(`${options.directory}/${EVIDENCE_ERROR}`), /out of memory/)
    }).pipe(Effect.provide(refusing(PATH)))
  )

  it.effect("is exported by every trial, with its digest kept here", () =>
    Effect.gen(function* () {
      const { options, result } = yield* runToDone({ channelLabel: "plain-task" })
      assert.strictEqual((yield* found).task_name, "plain-task")
      const fs = yield* FileSystem.FileSystem
      const text = yield* fs.readFileString(`${options.directory}/${EVIDENCE}`)
      assert.deepStrictEqual(result.summary.evidence, {
        path: PATH,
        sha256: sha256(text),
        bytes: new TextEncoder().encode(text).length
      })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("shows who and what the task brought, and the channels that were made", () =>
    Effect.gen(function* () {
      const scout = testIdentity(100)
      const relay = yield* BuzzClient
      const lead = { relayUrl: "ws://relay", identity: LEAD }
      const made = "11111111-2222-4333-8444-555555555555"
      yield* relay.createChannel(lead, { id: made, name: "fix-pr-1234", description: "urgent" })
      const { fiber, options } = yield* startTrial({
        ...graded,
        fixture: {
          directory: [{ identityId: "scout", name: "Ledger Scout", role: "bot", isChannelMember: true }],
          scripted: [
            {
              label: "report",
              actor: "scout",
              content: "{orchestrator}: 17 {other}",
              replyToTask: true
            },
            { label: "aside", actor: "user", content: "for {user} only", mentionOrchestrator: false }
          ],
          observedChannels: ["fix-pr-1234", "nowhere"]
        }
      })
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* TestStack.use((stack) => stack.turn("lead-1"))
      yield* say(LEAD, "DONE: it is there")
      const { summary } = yield* Fiber.join(fiber)
      const files = yield* RecordingEnvironment.use(({ files }) => files)
      const content = files.get(PATH)?.content
      const text = content === undefined || Redacted.isRedacted(content) ? "{}" : new TextDecoder().decode(content)
      const document = JSON.parse(text)
      assert.deepStrictEqual(document.directory, [
        { about: "", identity_id: "scout", name: "Ledger Scout", pubkey: scout.pubkey, role: "bot" }
      ])
      assert.strictEqual(text, sortedJson(document))
      const [report, aside] = document.scripted_events
      const task = summary.task_event_id
      assert.deepInclude(report, { label: "report", actor: "scout", reply_to_event_id: task })
      assert.deepInclude(aside, { label: "aside", actor: "user", reply_to_event_id: null })
      const byId = (id: string) => document.messages.find((message: { readonly id: string }) => message.id === id)
      assert.deepInclude(byId(report.event_id), {
        content: "lead-1: 17 {other}",
        author: "unknown",
        reply_to_event_id: task,
        mentioned_pubkeys: [LEAD.pubkey]
      })
      assert.deepInclude(byId(aside.event_id), { content: "for user only", author: "user", mentioned_pubkeys: [] })
      assert.deepStrictEqual(document.observed_channels, [
        {
          about: "urgent",
          archived: false,
          channel_id: made,
          channel_type: "stream",
          members: [{ pubkey: LEAD.pubkey, role: "owner" }],
          name: "fix-pr-1234",
          purpose: null,
          topic: null,
          ttl_seconds: null,
          visibility: "private"
        }
      ])
      assert.notInclude(text, Redacted.value(scout.secretKey))
      // Readers are told who it was.
      const seen = yield* awaitEvent((event) => event._tag === "MessageSeen" && event.event.pubkey === scout.pubkey)
      assert.deepInclude(seen, { author: "Ledger Scout" })
      const transcript = yield* FileSystem.FileSystem.use((fs) =>
        fs.readFileString(`${options.directory}/${TRANSCRIPT}`)
      )
      assert.include(transcript, '"author": "Ledger Scout"')
    }).pipe(Effect.provide(trialLayer()))
  )

  it("calls nobody as somebody of the trial is called", () => {
    const person = (name: string, n: number) => ({ entry: { name, role: "bot" as const }, identity: testIdentity(n) })
    const people = peopleOf(testTrialHandle({ directory: [person("lead-1", 8), person("Scout", 9)] }))
    assert.deepStrictEqual([...people.values()], ["Scout"])
    assert.match(other(testIdentity(8).pubkey, people), /^stranger /)
  })
})

describe("a script", () => {
  const fixture = { scripted: [{ label: "second", actor: "user", content: "and 41?" }] }

  it.effect("is heard to its end before a DONE: counts", () =>
    Effect.gen(function* () {
      const { fiber } = yield* startTrial({ condition: conditionWith({ roster: [{ id: "lead" }] }), fixture })
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      const stack = yield* TestStack
      const relay = yield* BuzzClient
      const [task, second] = yield* relay.readChannel({ relayUrl: "ws://relay", identity: USER }, CHANNEL)
      const delivered = (id: string | undefined) =>
        stack.log("lead-1", "pool::prompt", `turn delivered Buzz events for channel ${CHANNEL}: ${id}`)
      yield* stack.turn("lead-1")
      yield* delivered(task?.id)
      yield* say(LEAD, "DONE: 346")
      yield* awaitEvent(({ _tag }) => _tag === "MessageSeen")
      assert.isUndefined(fiber.pollUnsafe())
      yield* stack.turn("lead-1")
      yield* delivered(second?.id)
      const { completion, outcome } = yield* Fiber.join(fiber)
      assert.strictEqual(outcome, "done")
      assert.strictEqual(completion?.content, "DONE: 346")
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("that the relay does not take fails the trial", () =>
    Effect.gen(function* () {
      const directory = [{ name: "Ghost", role: "bot" as const }]
      const scripted = [{ label: "report", actor: "Ghost", content: "boo" }]
      const { fiber } = yield* startTrial({ fixture: { directory, scripted } })
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.deepInclude(error.reason, { _tag: "TaskNotAccepted" })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("of somebody whom nobody knows is refused before anything is provisioned", () =>
    Effect.gen(function* () {
      const scripted = [{ label: "report", actor: "ghost", content: "boo" }]
      const { fiber } = yield* startTrial({ fixture: { scripted } })
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.match(error.message, /scripted message report.*ghost.*one of user/)
    }).pipe(Effect.provide(trialLayer()))
  )
})

describe("the document", () => {
  const event = (
    id: string,
    kind: number,
    created_at: number,
    tags: NostrEvent["tags"] = [["h", CHANNEL]]
  ): NostrEvent => ({
    id,
    kind,
    created_at,
    tags,
    pubkey: LEAD.pubkey,
    content: id,
    sig: ""
  })
  const of = (events: ReadonlyArray<NostrEvent>, taskEventId?: string, complete = true) =>
    evidence({
      taskName: "",
      runId: "",
      trialId: "",
      channelId: CHANNEL,
      taskEventId,
      completionMessageId: undefined,
      names: new Map(),
      directory: [],
      scripted: [],
      observedChannels: [],
      events,
      complete,
      redact: (text) => text
    })

  it("lists messages as the relay dates them, those of one second as they were first seen, and no edits or deletions", () => {
    const { message_count, messages } = of([
      event("c", 9, 7),
      event("edit", 40_003, 5),
      event("a", 9, 5),
      event("b", 40_002, 7),
      event("gone", 5, 8)
    ])
    assert.deepStrictEqual(
      messages.map(({ id }) => id),
      ["a", "c", "b"]
    )
    assert.strictEqual(message_count, 3)
  })

  it("keeps whole tags and finds channel, reply and mentions in them", () => {
    const reply: NostrEvent["tags"][number] = ["e", "root", "", "reply"]
    const { messages } = of([
      event("a", 9, 1, [["h", CHANNEL], ["e", "other", "", "root"], reply, ["p", "x"], ["p", "y"]])
    ])
    assert.deepInclude(messages[0], {
      author: "unknown",
      author_role: "unknown",
      channel_id: CHANNEL,
      reply_to_event_id: "root",
      mentioned_pubkeys: ["x", "y"],
      tags: [["h", CHANNEL], ["e", "other", "", "root"], [...reply], ["p", "x"], ["p", "y"]]
    })
    assert.deepInclude(of([event("a", 9, 1, [])]).messages[0], { channel_id: null, reply_to_event_id: null })
  })

  it("is truncated when the root was not reached, and not by the number of messages", () => {
    const many = Array.from({ length: 1500 }, (_, n) => event(`m${n}`, 9, n))
    assert.deepInclude(of(many, "m0"), { truncated: false, message_count: 1500 })
    assert.isTrue(of(many.slice(1), "m0").truncated)
    assert.isTrue(of(many, "m0", false).truncated)
    assert.isFalse(of([]).truncated)
  })
})
