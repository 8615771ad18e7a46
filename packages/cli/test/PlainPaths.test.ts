import { recordingFacts } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { assert, describe, it } from "@effect/vitest"
import { relocate, relocateAll } from "../src/PlainPaths.ts"

const facts = recordingFacts({ workDirectory: "/x/work", logsDirectory: "/x/logs", testsDirectory: "/x/tests" })

describe("on a machine without a sandbox", () => {
  it("no task file is written where it is told to", () => {
    for (const [path, to] of [
      ["/app", "/x/work"],
      ["/app/src/a.c", "/x/work/src/a.c"],
      ["/logs/verifier", "/x/logs/verifier"],
      ["/tests/test.sh", "/x/tests/test.sh"],
      ["/application", "/x/files/application"],
      ["/etc/passwd", "/x/files/etc/passwd"]
    ] as const)
      assert.strictEqual(relocate(facts, path), to)
  })

  it("variables of endpoints follow the file that they name, and nothing else does", () => {
    const launch = { provider: "scripted", api_key_env: "KEY" }
    const env = { BOOK: "/tmp/book.yaml", OTHER: "/tmp/book.yaml.old" }
    const uploads = [{ source: "/here/book.yaml", target: "/tmp/book.yaml" }]
    assert.deepStrictEqual(relocateAll(facts, { uploads, endpoints: { a: { ...launch, env }, b: launch } }), {
      uploads: [{ source: "/here/book.yaml", target: "/x/files/tmp/book.yaml" }],
      endpoints: { a: { ...launch, env: { ...env, BOOK: "/x/files/tmp/book.yaml" } }, b: launch }
    })
  })
})
