import { NodeServices } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { CommandNotRun, EnvironmentError } from "@buzz-orchestra/runtime/EnvironmentError"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import {
  exited,
  RecordingEnvironment,
  type RecordingOptions
} from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { transferContract } from "./suites/TransferContract.ts"
import type { WatchEvent } from "@buzz-orchestra/runtime/WatchEvent"
import { Deferred, Effect, Exit, Fiber, FileSystem, Layer, Redacted, Scope, Stream } from "effect"

const double = (options?: RecordingOptions) =>
  Effect.provide(RecordingEnvironment.layer(options).pipe(Layer.provideMerge(NodeServices.layer)))

const round = (n: number): WatchEvent => ({ _tag: "RoundCompleted", round: n })

const refused = new EnvironmentError({
  operation: "EnvironmentService.exec",
  reason: new CommandNotRun({ environment: "recording environment", action: "run", detail: "refused" })
})

describe("RecordingEnvironment", () => {
  it.effect("answers by predicate: the newest answer first, the default last", () =>
    Effect.gen(function* () {
      const environment = yield* EnvironmentService
      const recording = yield* RecordingEnvironment
      assert.strictEqual((yield* environment.exec("uname")).stdout, "Linux")
      yield* recording.answer((command) => (command === "uname" ? refused : undefined))
      assert.strictEqual(yield* Effect.flip(environment.exec("uname")), refused)
      assert.deepStrictEqual(yield* environment.exec("true"), exited(0))
    }).pipe(double({ answers: [(command) => (command === "uname" ? exited(0, { stdout: "Linux" }) : undefined)] }))
  )

  it.effect("lets an answer hang until it is interrupted, and keeps the call in the journal", () =>
    Effect.gen(function* () {
      const environment = yield* EnvironmentService
      const recording = yield* RecordingEnvironment
      const asked = yield* Deferred.make<void>()
      yield* recording.answer(() => Effect.andThen(Deferred.succeed(asked, undefined), Effect.never))
      const fiber = yield* Effect.forkChild(environment.exec("sleep"))
      yield* Deferred.await(asked)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(
        (yield* recording.commands).map((entry) => entry.command),
        ["sleep"]
      )
    }).pipe(double())
  )

  it.effect("records variables and uploads with their secrets still redacted", () =>
    Effect.gen(function* () {
      const environment = yield* EnvironmentService
      const recording = yield* RecordingEnvironment
      yield* environment.exec("run", { env: { KEY: Redacted.make("secret-1") } })
      yield* environment.upload({ content: Redacted.make("secret-2") }, "/opt/buzz/prompts/lead-1.md", { mode: 0o600 })
      const journal = yield* recording.journal
      assert.notInclude(JSON.stringify(journal), "secret")
      const [executed, uploaded] = journal
      assert.isTrue(executed?._tag === "Executed" && Redacted.isRedacted(executed.options.env?.["KEY"]))
      assert.isTrue(uploaded?._tag === "Uploaded" && uploaded.mode === 0o600 && Redacted.isRedacted(uploaded.content))
    }).pipe(double())
  )

  it.effect("shows every watch all events from the first on, then its failure", () =>
    Effect.gen(function* () {
      const environment = yield* EnvironmentService
      const recording = yield* RecordingEnvironment
      yield* recording.pushWatch(round(1))
      const stream = yield* environment.watch("/opt/buzz/logs")
      yield* recording.pushWatch(round(2))
      assert.deepStrictEqual(yield* stream.pipe(Stream.take(2), Stream.runCollect), [round(1), round(2)])
      const second = yield* environment.watch("/opt/buzz/logs")
      yield* recording.failWatch(refused)
      const seen: Array<WatchEvent> = []
      const error = yield* Effect.flip(Stream.runForEach(second, (event) => Effect.sync(() => seen.push(event))))
      assert.strictEqual(error, refused)
      assert.deepStrictEqual(seen, [round(1), round(2)])
    }).pipe(Effect.scoped, double())
  )

  it.effect("journals the end of its watches and of itself", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(
        RecordingEnvironment.layer().pipe(Layer.provide(NodeServices.layer)),
        scope
      )
      const { journal } = yield* Effect.gen(function* () {
        const environment = yield* EnvironmentService
        yield* Effect.scoped(Effect.asVoid(environment.watch("/logs")))
        const { journal } = yield* RecordingEnvironment
        return { journal }
      }).pipe(Effect.provide(context))
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(
        (yield* journal).map((entry) => entry._tag),
        ["WatchOpened", "WatchClosed", "Closed"]
      )
    })
  )

  it.effect("takes a file that a process inside would have written", () =>
    Effect.gen(function* () {
      const environment = yield* EnvironmentService
      const recording = yield* RecordingEnvironment
      const fs = yield* FileSystem.FileSystem
      const host = yield* fs.makeTempDirectoryScoped()
      yield* recording.writeFile("/app/b", "from inside")
      assert.deepStrictEqual(yield* environment.downloadDirectory("/app", `${host}/out`), [])
      assert.strictEqual(yield* fs.readFileString(`${host}/out/b`), "from inside")
    }).pipe(Effect.scoped, double())
  )
})

layer(RecordingEnvironment.layer().pipe(Layer.provideMerge(NodeServices.layer)))("RecordingEnvironment", (it) =>
  transferContract(it, "/app")
)
