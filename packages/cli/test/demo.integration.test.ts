// @module-tag thorough
import { programLog, SUMMARY, TRANSCRIPT } from "@buzz-orchestra/runtime/BundleFiles"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import { join } from "node:path"
import { eventually, type HarnessProcess, ROOT, start, withEnvironment } from "./HarnessProcess.ts"
import { authorsOf, bundlePath, eventNamed, read, SECONDS, SOLO_KEY, soloTrial, TEST_LIMIT } from "./trialFiles.ts"

/** The id of the trial's channel, which every agent has in its environment. */
const channelOf = (harness: HarnessProcess): string | undefined => {
  const message = eventNamed(harness, "MessageSeen")?.["message"] as
    | { readonly tags: ReadonlyArray<ReadonlyArray<string>> }
    | undefined
  return message?.tags.find(([name]) => name === "h")?.[1]
}

describe("demo", () => {
  it.live(
    "ends with the outcome done, leaves a bundle and no process",
    () =>
      Effect.gen(function* () {
        const out = yield* bundlePath
        const harness = yield* start(["demo", "--json", "--out", out])
        const channel = yield* eventually("the first message", SECONDS, harness, () => channelOf(harness))
        assert.isAbove(withEnvironment(channel).length, 0, "no agent was found while the trial ran")
        assert.strictEqual(yield* harness.ended, 0, harness.stderr())

        const events = harness.events()
        assert.deepInclude(events.at(-1), { event: "Exited", exitCode: 0, outcome: "done", error: null })
        assert.deepStrictEqual(eventNamed(harness, "Swept")?.["survivors"], [])
        assert.deepStrictEqual(withEnvironment(channel), [])
        const summary = JSON.parse(read(join(out, SUMMARY))) as Record<string, unknown>
        assert.deepInclude(summary, { outcome: "done", condition: "M1-hello-world", error: null })
        assert.deepStrictEqual(authorsOf(events), ["user", "lead-1", "implementer-1", "lead-1", "reviewer-1", "lead-1"])
        for (const agent of ["lead-1", "implementer-1", "reviewer-1"]) {
          assert.match(read(join(out, programLog(agent, "stdout"))), /turn complete for channel/)
        }
        assert.include(read(join(out, TRANSCRIPT)), "DONE: hello.txt holds the line")
      }).pipe(Effect.scoped),
    TEST_LIMIT
  )
})

describe.skipIf(process.env["SOAK"] !== "1")("demo without a sandbox", () => {
  it.live(
    "is warned of, ends with the outcome done, writes nothing but its bundle, and leaves no process",
    () =>
      Effect.gen(function* () {
        const out = yield* bundlePath
        const before = fs.existsSync("/tmp/hello-team")
        const harness = yield* start(["demo", "--environment", "plain", "--json", "--out", out])
        const channel = yield* eventually("the first message", SECONDS, harness, () => channelOf(harness))
        assert.isAbove(withEnvironment(channel).length, 0, "no agent was found while the trial ran")
        assert.strictEqual(yield* harness.ended, 0, harness.stderr())
        assert.match(harness.stderr(), /^warning: --environment plain protects nothing/)
        const { environment, outcome } = JSON.parse(read(join(out, SUMMARY))) as {
          readonly outcome: string
          readonly environment: { readonly kind: string; readonly limitations: ReadonlyArray<string> }
        }
        assert.deepStrictEqual([outcome, environment.kind], ["done", "plain"])
        assert.match(environment.limitations[0] ?? "", /^Nothing protects this machine/)
        assert.deepStrictEqual(withEnvironment(channel), [])
        assert.strictEqual(fs.existsSync("/tmp/hello-team"), before)
      }).pipe(Effect.scoped),
    TEST_LIMIT
  )
})

/** From util-linux; gives a program a terminal. */
const SCRIPT = "/usr/bin/script"

describe.skipIf(!fs.existsSync(SCRIPT))("a trial on a terminal", () => {
  it.live(
    "repaints a block and leaves the cursor visible",
    () =>
      Effect.gen(function* () {
        const out = yield* bundlePath
        const args = ["packages/cli/src/bin.ts", "run", ...soloTrial("done"), "--out", out]
        const command = `stty cols 100 rows 30; exec '${process.execPath}' ${args.map((text) => `'${text}'`).join(" ")}`
        const typescript = execFileSync(SCRIPT, ["-qec", command, "/dev/null"], {
          cwd: ROOT,
          env: { ...process.env, ...SOLO_KEY, TERM: "xterm-256color", NO_COLOR: "" },
          encoding: "utf8",
          timeout: SECONDS * 1000
        })
        assert.include(typescript, "\u001b[?25l")
        assert.include(typescript, "waiting")
        assert.isAbove(typescript.lastIndexOf("\u001b[?25h"), typescript.lastIndexOf("\u001b[?25l"))
        assert.include(typescript, "\u001b[32mdone\u001b[39m: ")
      }).pipe(Effect.scoped),
    TEST_LIMIT
  )
})
