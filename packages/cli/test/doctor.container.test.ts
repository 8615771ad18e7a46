import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { docker } from "../../runtime/test/docker/support/engine.ts"
import { containerTests } from "./containerTests.ts"
import { start } from "./HarnessProcess.ts"
import { TEST_LIMIT } from "./trialFiles.ts"

containerTests("doctor with an engine", () => {
  it.live(
    "starts a container, says what it can, and leaves none",
    () =>
      Effect.gen(function* () {
        const harness = yield* start(["doctor", "--json"])
        assert.strictEqual(yield* harness.ended, 0, harness.stdout() + harness.stderr())
        const found = (topic: string) => harness.events().find((event) => event["topic"] === topic)
        assert.deepInclude(found("engine"), { status: "ok" })
        assert.deepInclude(found("container"), { status: "ok" })
        assert.match(String(found("container")?.["detail"]), /^starts one in .*; limits its cores/)
        const label = `org.buzz-orchestra.pid=${harness.pid}`
        const left = yield* Effect.promise(() => docker.listContainers({ all: true, filters: { label: [label] } }))
        assert.deepStrictEqual(left, [])
      }).pipe(Effect.scoped),
    TEST_LIMIT
  )
})
