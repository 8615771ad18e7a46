import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { ROOT, start } from "./HarnessProcess.ts"

describe("what the packages log", () => {
  it.live("never stands on the command's stdout, not even while its services are built", () =>
    Effect.gen(function* () {
      const program = fileURLToPath(new URL("fixtures/withoutWasm.ts", import.meta.url))
      const manifest = join(ROOT, "examples/hello-team/manifest.yaml")
      const harness = yield* start(["manifest", "hash", manifest], { program })
      assert.strictEqual(yield* harness.ended, 0)
      assert.match(harness.stdout(), /^[0-9a-f]{64}\n$/)
      assert.match(harness.stderr(), /^warning: the WebAssembly module .* slower pure code\n$/)
    }).pipe(Effect.scoped)
  )
})
