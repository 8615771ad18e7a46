// @module-tag thorough
import { programLog, SUMMARY } from "@buzz-orchestra/runtime/BundleFiles"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import { join } from "node:path"
import { alive, descendants, eventually, type HarnessProcess, start } from "./HarnessProcess.ts"
import { bundlePath, read, SECONDS, SOLO_KEY, soloTrial, TEST_LIMIT } from "./trialFiles.ts"

/** A trial whose lead never finishes, once the lead and everything it started runs. */
const hangingTrial = Effect.fnUntraced(function* (out: string) {
  const args = ["run", ...soloTrial("hanging"), "--json", "--out", out]
  const harness = yield* start(args, { env: SOLO_KEY })
  const processes = yield* eventually("the lead's children", SECONDS, harness, () => {
    const found = descendants(harness.pid)
    return ["sleep 300", "sleep 301"].every((command) => found.some((one) => one.command === command))
      ? found
      : undefined
  })
  return { harness, processes }
})

const nobodyLeft = (harness: HarnessProcess, processes: Parameters<typeof alive>[0], seconds: number) =>
  eventually(
    `the end of ${JSON.stringify(processes)}`,
    seconds,
    harness,
    () => (alive(processes).length === 0 ? true : undefined),
    true
  )

describe("a harness that is stopped while agents work", () => {
  it.live(
    "by SIGTERM stops in order: a bundle, exit code 143, no process",
    () =>
      Effect.gen(function* () {
        const out = yield* bundlePath
        const { harness, processes } = yield* hangingTrial(out)
        harness.kill("SIGTERM")
        assert.strictEqual(yield* harness.ended, 143, harness.stderr())
        assert.deepStrictEqual(alive(processes), [])
        const summary = JSON.parse(read(join(out, SUMMARY))) as Record<string, unknown>
        assert.deepInclude(summary, { outcome: "interrupted" })
        assert.isTrue(fs.existsSync(join(out, programLog("lead-1", "stdout"))))
        assert.deepInclude(harness.events().at(-1), { event: "Exited", exitCode: 143, outcome: "interrupted" })
        assert.include(harness.stderr(), "SIGTERM: stopping in order")
      }).pipe(Effect.scoped),
    TEST_LIMIT
  )

  it.live(
    "by two Ctrl-C leaves at once, says what may be left, and its processes end by themselves",
    () =>
      Effect.gen(function* () {
        const out = yield* bundlePath
        const { harness, processes } = yield* hangingTrial(out)
        harness.kill("SIGINT")
        yield* eventually("the stop", SECONDS, harness, () => (harness.stderr().includes("SIGINT") ? true : undefined))
        // A second one counts when it is not the same key press; which one is the second does not matter.
        const leaving = yield* eventually("the leave", 10, harness, () => {
          harness.kill("SIGINT")
          return harness.stderr().includes("left at once") ? true : undefined
        })
        assert.isTrue(leaving)
        assert.strictEqual(yield* harness.ended, 130, harness.stderr())
        assert.include(harness.stderr(), `What may be left:\n  ${out}: an unfinished bundle`)
        yield* nobodyLeft(harness, processes, 5)
      }).pipe(Effect.scoped),
    TEST_LIMIT
  )

  it.live(
    "by kill -9 leaves no process of the stack alive 5 s later",
    () =>
      Effect.gen(function* () {
        const out = yield* bundlePath
        const { harness, processes } = yield* hangingTrial(out)
        harness.kill("SIGKILL")
        assert.strictEqual(yield* harness.ended, "SIGKILL")
        yield* nobodyLeft(harness, processes, 5)
      }).pipe(Effect.scoped),
    TEST_LIMIT
  )
})
