import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Layer } from "effect"
import { TestConsole } from "effect/testing"
import * as LogLines from "../src/LogLines.ts"
import * as TestOutput from "./TestOutput.ts"

const scrub = (text: string) => text.replaceAll("sk-secret", "[redacted]")

const layer = LogLines.layer(scrub).pipe(Layer.provideMerge(TestOutput.layer(false)))

describe("what the packages log", () => {
  it.effect("is one line each on stderr, says how grave it is and what caused it, and shows no secret", () =>
    Effect.gen(function* () {
      yield* Effect.logWarning("2 events do\nnot verify", "\u001b[31msk-secret")
      yield* Effect.logError("the channel is left", Cause.fail(new Error("connection\nreset")))
      yield* Effect.logInfo("removed")
      yield* Effect.logDebug("nobody asked")
      const { stderr, stdout } = yield* TestOutput.Written
      assert.deepStrictEqual((yield* stderr).split("\n"), [
        "warning: 2 events do not verify: [redacted]",
        "error: the channel is left: connection reset",
        "removed",
        ""
      ])
      assert.strictEqual(yield* stdout, "")
      assert.deepStrictEqual(yield* TestConsole.logLines, [])
    }).pipe(Effect.provide(layer))
  )
})
