import { SUMMARY } from "@buzz-orchestra/runtime/BundleFiles"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { containerTests, leftOf, ownBundle } from "./containerTests.ts"
import { eventually, start, withEnvironment } from "./HarnessProcess.ts"
import { authorsOf, eventNamed, read, SECONDS, TEST_LIMIT } from "./trialFiles.ts"

containerTests("demo in a container", () => {
  it.live(
    "needs no image, ends with the outcome done, and leaves no container, network, volume or process",
    () =>
      Effect.gen(function* () {
        const out = yield* ownBundle
        const harness = yield* start(["demo", "--environment", "docker", "--json", "--out", out])
        const channel = yield* eventually("the first message", SECONDS, harness, () => {
          const message = eventNamed(harness, "MessageSeen")?.["message"] as
            | { readonly tags: ReadonlyArray<ReadonlyArray<string>> }
            | undefined
          return message?.tags.find(([name]) => name === "h")?.[1]
        })
        assert.isAbove(withEnvironment(channel).length, 0, "no agent was found while the trial ran")
        assert.lengthOf(yield* leftOf(out), 1)
        assert.strictEqual(yield* harness.ended, 0, harness.stderr())

        const events = harness.events()
        assert.deepInclude(events.at(-1), { event: "Exited", exitCode: 0, outcome: "done", error: null })
        assert.deepStrictEqual(authorsOf(events), ["user", "lead-1", "implementer-1", "lead-1", "reviewer-1", "lead-1"])
        assert.deepStrictEqual(yield* leftOf(out), [])
        assert.deepStrictEqual(withEnvironment(channel), [])
        const { environment } = JSON.parse(read(join(out, SUMMARY))) as {
          readonly environment: { readonly container: Record<string, unknown> }
        }
        assert.deepInclude(environment.container, {
          limits: { cpus: null, memory_mb: null, storage_mb: null, pids: null },
          // The manifest's 120 s, a minute to be ready, and a margin.
          time_limit_seconds: 120 + 60 + 15 * 60
        })
      }).pipe(Effect.scoped),
    TEST_LIMIT
  )
})
