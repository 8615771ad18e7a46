// @module-tag thorough
/** A relay that serves, and a trial on it; the processes of the command are few because each takes a second to start. */
import { EVIDENCE, SUMMARY } from "@buzz-orchestra/runtime/BundleFiles"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as fs from "node:fs"
import { join } from "node:path"
import { eventually, type HarnessProcess, ROOT, start } from "./HarnessProcess.ts"
import { bundlePath, read, SECONDS, TEST_LIMIT } from "./trialFiles.ts"

const example = (name: string): string => join(ROOT, "examples/hello-team", name)

/** A task whose user has a name, and in which somebody else reports; removed with the directory around `out`. */
const fixture = (out: string): string => {
  const file = `${out}.fixture.yaml`
  fs.writeFileSync(
    file,
    [
      "user_name: Nora Isabel Grant",
      "directory: [{ name: Ledger Scout, role: bot, is_channel_member: true }]",
      "scripted: [{ label: ledger-report, actor: Ledger Scout, content: north 17, reply_to_task: true }]"
    ].join("\n")
  )
  return file
}

/** The relay that all tests of this file use; the last one ends it. */
class Served extends Context.Service<Served, { readonly relay: HarnessProcess; readonly url: string }>()(
  "test/Served"
) {
  static readonly layer = Layer.effect(
    Served,
    Effect.gen(function* () {
      const relay = yield* start(["relay", "serve"])
      const url = yield* eventually(
        "the address",
        SECONDS,
        relay,
        () => /^relay (ws:\/\/127\.0\.0\.1:\d+)$/m.exec(relay.stdout())?.[1]
      )
      return { relay, url }
    })
  )
}

layer(Served.layer, { excludeTestServices: true, timeout: TEST_LIMIT })("relay serve", (it) => {
  it.effect("answers where it says that it listens", () =>
    Effect.gen(function* () {
      const { url } = yield* Served
      const response = yield* Effect.promise(() =>
        fetch(url.replace("ws:", "http:"), { headers: { accept: "application/nostr+json" } })
      )
      assert.strictEqual(response.status, 200)
    })
  )

  it.effect(
    "says who has the port when it is taken",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Served
        const { port } = new URL(url)
        const second = yield* start(["relay", "serve", "--port", port])
        assert.strictEqual(yield* second.ended, 17)
        assert.match(second.stderr(), new RegExp(`^error: cannot listen on 127\\.0\\.0\\.1:${port}: .*EADDRINUSE`))
      }),
    TEST_LIMIT
  )

  it.effect(
    "serves `run`, which runs a manifest, says what happens and shows no key",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Served
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
        const people = ["--fixture", fixture(out), "--evidence-for", "ledger", "--run-id", "bench-1"]
        const result = ["--download", `/app/hello.txt:${out}.txt`]
        const harness = yield* start(["run", ...files, ...task, ...upload, ...keys, ...where, ...people, ...result], {
          env: secrets
        })
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
          "cost      0 USD",
          "stopped   every process of the stack is gone",
          `bundle    ${out}`,
          `next:     node packages/cli/src/bin.ts show ${out}`
        ])
        const summary = JSON.parse(read(join(out, SUMMARY))) as Record<string, unknown>
        assert.deepInclude(summary, { outcome: "done", relay_url: url, warnings: [], run_id: "bench-1" })
        assert.strictEqual(read(`${out}.txt`), "Hello, world!\n")
        assert.strictEqual(harness.stderr(), `/app/hello.txt is in ${out}.txt\n`)
        const evidence = JSON.parse(read(join(out, EVIDENCE))) as {
          readonly task_name: string
          readonly directory: ReadonlyArray<{ readonly name: string }>
          readonly messages: ReadonlyArray<{ readonly content: string }>
        }
        assert.strictEqual(evidence.task_name, "ledger")
        assert.deepStrictEqual(
          evidence.directory.map(({ name }) => name),
          ["Ledger Scout"]
        )
        assert.strictEqual(evidence.messages[1]?.content, "north 17")
        const bundle = fs
          .readdirSync(out, { recursive: true, encoding: "utf8" })
          .filter((name) => fs.statSync(join(out, name)).isFile())
        assert.isAbove(bundle.length, 8)
        for (const text of [harness.stdout(), harness.stderr(), ...bundle.map((name) => read(join(out, name)))])
          for (const secret of Object.values(secrets)) assert.notInclude(text, secret)
      }),
    TEST_LIMIT
  )

  it.effect("ends on Ctrl-C", () =>
    Effect.gen(function* () {
      const { relay } = yield* Served
      relay.kill("SIGINT")
      assert.strictEqual(yield* relay.ended, 130)
      assert.strictEqual(relay.stderr(), "")
    })
  )
})
