import { EnvironmentError, ShellMissing, TransferFailed } from "@buzz-orchestra/runtime/EnvironmentError"
import { RuntimeLaunchError } from "@buzz-orchestra/runtime/RuntimeLaunchError"
import { Trial, type TrialResult } from "@buzz-orchestra/runtime/Trial"
import type { TrialHappening } from "@buzz-orchestra/runtime/TrialEvent"
import { TrialEvents } from "@buzz-orchestra/runtime/TrialEvents"
import type { TrialOptions } from "@buzz-orchestra/runtime/TrialOptions"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as LogLines from "../src/LogLines.ts"
import * as ShownTrial from "../src/ShownTrial.ts"
import { ExitWith, Stopping, StoppingRef } from "../src/Stopping.ts"
import { note, started } from "./events.ts"
import * as TestOutput from "./TestOutput.ts"

const { at: _at, ...trialStarted } = started

/** A trial that publishes `before`, does `body`, and on every way out what a real one publishes there. */
const scripted = (
  before: ReadonlyArray<TrialHappening>,
  body: Effect.Effect<TrialResult, RuntimeLaunchError>
): Layer.Layer<Trial, never, TrialEvents> =>
  Layer.effect(
    Trial,
    Effect.gen(function* () {
      const events = yield* TrialEvents
      const publish = (happenings: ReadonlyArray<TrialHappening>) =>
        Effect.forEach(happenings, (happening) => events.publish({ runId: "run", trialId: "trial", ...happening }), {
          discard: true
        })
      return Trial.of({
        run: () =>
          publish([trialStarted, ...before]).pipe(
            Effect.andThen(body),
            Effect.onExit(() =>
              publish([
                { _tag: "Swept", survivors: [], spared: [{ pid: 7, command: "python3 -m http.server" }] },
                { _tag: "TrialEnded", outcome: undefined, error: undefined }
              ])
            )
          )
      })
    })
  )

const result = (outcome: TrialResult["outcome"], findings: TrialResult["summary"]["secret_scan"]["findings"] = []) =>
  Effect.succeed({
    outcome,
    completion: undefined,
    summary: { secret_scan: { clean: findings.length === 0, findings, review: [] } },
    directory: "/trials/x"
  } as unknown as TrialResult)

const decided: ReadonlyArray<TrialHappening> = [
  { _tag: "PhaseStarted", phase: "observe" },
  { _tag: "MessageSeen", author: "lead-1", event: note("DONE: written with sk-secret-key-value") },
  { _tag: "UsageSeen", agentId: "lead-1", inputTokens: 1000, outputTokens: 234, cachedTokens: 0 },
  { _tag: "PhaseEnded", phase: "observe", millis: 12_000, error: undefined },
  { _tag: "OutcomeDecided", outcome: "done", detail: "lead-1 said DONE:" }
]

const show = (json: boolean): ShownTrial.ShowOptions => ({
  json,
  directory: "trials/x",
  scrub: (text) => text.replaceAll("sk-secret-key-value", "[redacted]"),
  leftovers: ["trials/x"]
})

const shown = (json: boolean) => ShownTrial.run({} as TrialOptions, show(json))

const lost = new EnvironmentError({
  operation: "EnvironmentService.download",
  reason: new TransferFailed({
    environment: "the sandbox",
    direction: "download",
    path: "/app/out.csv",
    detail: "there is no such file"
  })
})

const collecting = (json: boolean) =>
  ShownTrial.run({} as TrialOptions, { ...show(json), collect: () => Effect.fail(lost) })

const layers = (isTerminal: boolean, trial: Layer.Layer<Trial, never, TrialEvents>, stopping = new Stopping()) =>
  Layer.mergeAll(
    trial.pipe(Layer.provideMerge(TrialEvents.layer)),
    TestOutput.layer(isTerminal),
    Layer.succeed(StoppingRef, stopping)
  )

const written = Effect.flatMap(TestOutput.Written, ({ stdout }) => stdout)

const codeOf = (exit: Exit.Exit<unknown, ExitWith>): number | undefined => {
  const error = Exit.isFailure(exit) ? Cause.findErrorOption(exit.cause) : undefined
  return error?._tag === "Some" ? error.value.code : undefined
}

const SECRETS = [{ path: "config.json", line: 7, kind: "openai-key" }]

describe("ShownTrial", () => {
  it.effect("prints a line per change, then how it ended, where the bundle is and what to type next", () =>
    Effect.gen(function* () {
      yield* shown(false)
      assert.deepStrictEqual((yield* written).split("\n"), [
        "       0.0 s  demo f7f11a15e27043a0: lead-1, implementer-1",
        "       0.0 s  phase observe",
        "       0.0 s  lead-1: DONE: written with [redacted]",
        "       0.0 s  done: lead-1 said DONE:",
        "",
        "done: lead-1 said DONE:",
        "phases    observe 12 s; 0.0 s in all",
        "tokens    1,234 (not reported by implementer-1)",
        "stopped   every process of the stack is gone",
        "spared    7 python3 -m http.server",
        "bundle    trials/x",
        "next:     buzz-orchestra show trials/x",
        ""
      ])
    }).pipe(Effect.provide(layers(false, scripted(decided, result("done")))))
  )

  it.effect("is no success when a secret stands in the bundle: file and line are named", () =>
    Effect.gen(function* () {
      assert.strictEqual(codeOf(yield* Effect.exit(shown(false))), 123)
      const text = yield* written
      assert.include(text, "done: lead-1 said DONE:")
      assert.match(
        text,
        /error: a secret stands in trials\/x\n {2}config\.json:7 \(openai-key\)\nnext: +do not publish/
      )
    }).pipe(Effect.provide(layers(false, scripted(decided, result("done", SECRETS)))))
  )

  it.effect("is no success when what was asked for cannot be had of it", () =>
    Effect.gen(function* () {
      assert.strictEqual(codeOf(yield* Effect.exit(collecting(false))), 23)
      assert.include(yield* written, "error: the sandbox: the download of /app/out.csv failed: there is no such file")
    }).pipe(Effect.provide(layers(false, scripted(decided, result("done")))))
  )

  it.effect("ends as it ended when that was no success, and tells what could not be had of it", () =>
    Effect.gen(function* () {
      assert.strictEqual(codeOf(yield* Effect.exit(collecting(true))), 12)
      const { stderr } = yield* TestOutput.Written
      assert.match(yield* stderr, /download of \/app\/out\.csv failed/)
    }).pipe(Effect.provide(layers(false, scripted(decided, result("timed-out")))))
  )

  it.effect("says the same at the end of the NDJSON", () =>
    Effect.gen(function* () {
      assert.strictEqual(codeOf(yield* Effect.exit(shown(true))), 123)
      const last = JSON.parse((yield* written).trimEnd().split("\n").at(-1) ?? "") as Record<string, unknown>
      assert.deepInclude(last, { event: "Exited", exitCode: 123, outcome: "done" })
      assert.deepInclude(last["error"] as object, { reason: "SecretsInBundle" })
    }).pipe(Effect.provide(layers(false, scripted(decided, result("done", SECRETS)))))
  )

  it.effect("on a terminal paints a block, takes it away at the end and shows the cursor again", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(shown(false))
      yield* TestClock.adjust("1 second")
      const during = yield* written
      assert.include(during, "\u001b[?25l")
      assert.include(during, "waiting for lead-1")
      yield* Fiber.interrupt(fiber)
      const after = (yield* written).slice(during.length)
      assert.include(after, "interrupted")
      assert.isTrue(after.endsWith("\u001b[?25h"))
    }).pipe(
      Effect.provide(
        layers(
          true,
          scripted([{ _tag: "Waiting", sentence: "waiting for lead-1", deadlineAt: undefined }], Effect.never)
        )
      )
    )
  )

  it.effect("on a terminal shows what is logged above the block, and once more below it afterwards", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(shown(false))
      yield* TestClock.adjust("1 second")
      const { stderr } = yield* TestOutput.Written
      const before = yield* written
      yield* Effect.logWarning("an event does not verify")
      yield* TestClock.adjust("1 second")
      const [line = "", ...block] = (yield* written).slice(before.length).split("\n")
      assert.include(line, "warning: an event does not verify")
      assert.include(block.join("\n"), "waiting for lead-1")
      assert.strictEqual(yield* stderr, "")
      yield* Fiber.interrupt(fiber)
      yield* Effect.logWarning("the sandbox is slow")
      assert.strictEqual(yield* stderr, "warning: the sandbox is slow\n")
    }).pipe(
      Effect.provide(
        LogLines.layer().pipe(
          Layer.provideMerge(
            layers(
              true,
              scripted([{ _tag: "Waiting", sentence: "waiting for lead-1", deadlineAt: undefined }], Effect.never)
            )
          )
        )
      )
    )
  )

  it.effect("with --json prints NDJSON and nothing else, ending with the exit code", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(shown(true))
      assert.strictEqual(codeOf(exit), 12)
      const lines = (yield* written)
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>)
      assert.deepStrictEqual(
        lines.map((line) => line["event"]),
        ["TrialStarted", "OutcomeDecided", "Swept", "TrialEnded", "Exited"]
      )
      assert.deepInclude(lines.at(-1), { exitCode: 12, outcome: "timed-out", directory: "trials/x", error: null })
    }).pipe(
      Effect.provide(
        layers(
          false,
          scripted([{ _tag: "OutcomeDecided", outcome: "timed-out", detail: "300 s went by" }], result("timed-out"))
        )
      )
    )
  )

  it.effect("a launch error becomes one line, its advice and its own code", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(shown(false))
      assert.strictEqual(codeOf(exit), 42)
      const text = yield* written
      assert.include(text, "error: install: no shell in the box")
      assert.include(text, "bundle    trials/x")
      assert.notInclude(text, "    at ")
    }).pipe(
      Effect.provide(
        layers(
          false,
          scripted(
            [],
            Effect.fail(
              new RuntimeLaunchError({
                phase: "install",
                reason: new ShellMissing({ environment: "the box", detail: "not found" })
              })
            )
          )
        )
      )
    )
  )

  it.effect("a signal says so, stops in order and prints the end", () => {
    const stopping = new Stopping()
    return Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(shown(false))
      stopping.onStop(() => fiber.interruptUnsafe())
      yield* TestClock.adjust("1 second")
      stopping.request("SIGTERM")
      yield* Fiber.await(fiber)
      const { stderr } = yield* TestOutput.Written
      assert.strictEqual(yield* stderr, "SIGTERM: stopping in order; once more leaves at once\n")
      assert.include(yield* written, "interrupted: stopped by SIGTERM\n")
      assert.include(yield* written, "every process of the stack is gone")
    }).pipe(Effect.provide(layers(false, scripted([], Effect.never), stopping)))
  })
})
