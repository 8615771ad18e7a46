import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { reaction } from "../src/Stopping.ts"
import { eventually, type HarnessProcess, start } from "./HarnessProcess.ts"

const program = fileURLToPath(new URL("fixtures/stopping.ts", import.meta.url))

const SECONDS = 30

const says = (harness: HarnessProcess, text: string) =>
  eventually(text, SECONDS, harness, () => (harness.stdout().includes(text) ? true : undefined))

const running = Effect.tap(start([], { program }), (harness) => says(harness, "running"))

describe("Stopping", () => {
  const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
  for (const [signal, code] of Object.entries(codes)) {
    it.live(`${signal} stops in order and exits with ${code}`, () =>
      Effect.gen(function* () {
        const harness = yield* running
        harness.kill(signal as keyof typeof codes)
        yield* says(harness, `asked by ${signal}`)
        harness.write("go\n")
        assert.strictEqual(yield* harness.ended, code)
        assert.strictEqual(harness.stdout(), `running\nasked by ${signal}\ncleaned up\n`)
        assert.strictEqual(harness.stderr(), "")
      }).pipe(Effect.scoped)
    )
  }
  it("takes two signals of one key press for one, and a closed terminal for no wish to hurry", () => {
    assert.strictEqual(reaction(undefined, "SIGINT", 0), "stop")
    assert.strictEqual(reaction(undefined, "SIGHUP", 0), "stop")
    assert.strictEqual(reaction(1_000, "SIGINT", 1_050), "ignore")
    assert.strictEqual(reaction(1_000, "SIGINT", 1_300), "leave")
    assert.strictEqual(reaction(1_000, "SIGTERM", 1_300), "leave")
    assert.strictEqual(reaction(1_000, "SIGHUP", 9_000), "ignore")
    assert.strictEqual(reaction(1_000, "SIGPIPE", 9_000), "ignore")
  })
  it.live("a second Ctrl-C leaves at once and says what may be left", () =>
    Effect.gen(function* () {
      const harness = yield* running
      harness.kill("SIGINT")
      yield* says(harness, "asked by SIGINT")
      yield* eventually("the leave", SECONDS, harness, () => {
        harness.kill("SIGINT")
        return harness.stderr() === "" ? undefined : true
      })
      assert.strictEqual(yield* harness.ended, 130)
      assert.notInclude(harness.stdout(), "cleaned up")
      assert.strictEqual(
        harness.stderr(),
        "\nleft at once, without stopping in order.\nWhat may be left:\n  a sandbox\n"
      )
    }).pipe(Effect.scoped)
  )
  it.live("a closed terminal does not turn a stop in order into a leave at once", () =>
    Effect.gen(function* () {
      const harness = yield* running
      harness.kill("SIGTERM")
      yield* says(harness, "asked by SIGTERM")
      for (let i = 0; i < 20; i++) harness.kill("SIGHUP")
      harness.write("go\n")
      assert.strictEqual(yield* harness.ended, 143)
      assert.include(harness.stdout(), "cleaned up")
    }).pipe(Effect.scoped)
  )
})
