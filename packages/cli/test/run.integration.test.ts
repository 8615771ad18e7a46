import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import { join } from "node:path"
import { eventually, ROOT, start } from "./HarnessProcess.ts"
import { bundlePath, read, SECONDS, TEST_LIMIT } from "./trialFiles.ts"

const example = (name: string): string => join(ROOT, "examples/hello-team", name)

describe("run", () => {
  it.live(
    "runs a manifest on a relay that runs already, says what happens and shows no key",
    () =>
      Effect.gen(function* () {
        const relay = yield* start(["relay", "serve"])
        const url = yield* eventually("the address", SECONDS, relay, () => /ws:\/\/[\d.:]+/.exec(relay.stdout())?.[0])
        const out = yield* bundlePath
        const secrets = {
          SCRIPTED_API_KEY: "sk-scripted-0123456789",
          USER_KEY: "5a".repeat(32),
          OWNER_KEY: "6b".repeat(32)
        }
        const files = [example("manifest.yaml"), "--endpoints", example("endpoints.json")]
        const task = ["--instruction-file", example("instruction.md")]
        const upload = ["--upload", `${example("playbook.yaml")}:/tmp/hello-team/playbook.yaml`]
        const keys = ["--user-key-env", "USER_KEY", "--owner-key-env", "OWNER_KEY"]
        const where = ["--relay", url, "--stack", "reference", "--out", out]
        const harness = yield* start(["run", ...files, ...task, ...upload, ...keys, ...where], { env: secrets })
        assert.strictEqual(yield* harness.ended, 0, harness.stderr())

        const lines = harness.stdout().trimEnd().split("\n")
        assert.match(lines[0] ?? "", /^ {7}0\.0 s {2}M1-hello-world [0-9a-f]{16}: lead-1, implementer-1, reviewer-1$/)
        assert.isTrue(lines.some((line) => /s {2}lead-1: @implementer-1 please write hello\.txt/.test(line)))
        assert.isTrue(lines.some((line) => /s {2}reviewer-1 in turn 1$/.test(line)))
        const end = lines.slice(lines.lastIndexOf("") + 1)
        assert.match(end[0] ?? "", /^done: /)
        assert.match(end[1] ?? "", /^phases {4}prepare [\d.]+ s, .*observe [\d.]+ s.* in all$/)
        assert.match(end[2] ?? "", /^tokens {4}\d+,\d{3}$/)
        assert.deepStrictEqual(end.slice(3), [
          "stopped   every process of the stack is gone",
          `bundle    ${out}`,
          `next:     cat ${out}/transcript.json`
        ])
        const summary = JSON.parse(read(join(out, "summary.json"))) as Record<string, unknown>
        assert.deepInclude(summary, { outcome: "done", relay_url: url, warnings: [] })
        const bundle = fs.readdirSync(out, { recursive: true, encoding: "utf8" })
        assert.isAbove(bundle.length, 8)
        for (const text of [harness.stdout(), harness.stderr(), ...bundle.map((name) => read(join(out, name)))])
          for (const secret of Object.values(secrets)) assert.notInclude(text, secret)
      }).pipe(Effect.scoped),
    TEST_LIMIT
  )
})

describe("relay serve", () => {
  it.live(
    "says where it listens, answers there, and ends on Ctrl-C",
    () =>
      Effect.gen(function* () {
        const harness = yield* start(["relay", "serve"])
        const url = yield* eventually(
          "the address",
          SECONDS,
          harness,
          () => /^relay (ws:\/\/127\.0\.0\.1:\d+)$/m.exec(harness.stdout())?.[1]
        )
        const response = yield* Effect.promise(() =>
          fetch(url.replace("ws:", "http:"), { headers: { accept: "application/nostr+json" } })
        )
        assert.strictEqual(response.status, 200)
        harness.kill("SIGINT")
        assert.strictEqual(yield* harness.ended, 130)
        assert.strictEqual(harness.stderr(), "")
      }).pipe(Effect.scoped),
    TEST_LIMIT
  )

  it.live(
    "says who has the port when it is taken",
    () =>
      Effect.gen(function* () {
        const first = yield* start(["relay", "serve"])
        const port = yield* eventually("the port", SECONDS, first, () => /:(\d+)$/m.exec(first.stdout())?.[1])
        const second = yield* start(["relay", "serve", "--port", port])
        assert.strictEqual(yield* second.ended, 17)
        assert.match(second.stderr(), new RegExp(`^error: cannot listen on 127\\.0\\.0\\.1:${port}: .*EADDRINUSE`))
      }).pipe(Effect.scoped),
    TEST_LIMIT
  )
})
