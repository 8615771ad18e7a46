import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { alive, descendants, eventually, type HarnessProcess, ROOT, start, withEnvironment } from "./HarnessProcess.ts"

/** A path for a bundle; removed with the scope. */
const bundlePath: Effect.Effect<string, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => fs.mkdtempSync(join(tmpdir(), "demo-"))),
    (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))
  ),
  (directory) => join(directory, "bundle")
)

const read = (path: string): string => fs.readFileSync(path, "utf8")

/** Who wrote the messages of the channel, in the order in which they were seen. */
const authorsOf = (events: ReturnType<HarnessProcess["events"]>): ReadonlyArray<unknown> =>
  events
    .filter(({ event, message }) => event === "MessageSeen" && (message as { kind: number }).kind === 9)
    .map(({ author }) => author)

const eventNamed = (harness: HarnessProcess, name: string) => harness.events().find(({ event }) => event === name)

/** The id of the trial's channel, which every agent has in its environment. */
const channelOf = (harness: HarnessProcess): string | undefined => {
  const message = eventNamed(harness, "MessageSeen")?.["message"] as
    | { readonly tags: ReadonlyArray<ReadonlyArray<string>> }
    | undefined
  return message?.tags.find(([name]) => name === "h")?.[1]
}

/** For one wait; a test has several, and a minute more than that. */
const SECONDS = 40
const TEST_LIMIT = (SECONDS + 60) * 1000

/** A trial whose lead never finishes, once the lead and everything it started runs. */
const hangingTrial = Effect.fnUntraced(function* (out: string) {
  const example = join(ROOT, "examples/hello-team")
  const playbook = join(ROOT, "packages/cli/test/fixtures/hanging.yaml")
  const args = ["run", join(example, "manifest.yaml"), "--endpoints", join(example, "endpoints.json")]
  const more = [
    "--instruction",
    "hang",
    "--upload",
    `${playbook}:/tmp/hello-team/playbook.yaml`,
    "--json",
    "--out",
    out
  ]
  const harness = yield* start([...args, ...more], { env: { SCRIPTED_API_KEY: "scripted-key" } })
  const processes = yield* eventually("the lead's children", SECONDS, harness, () => {
    const found = descendants(harness.pid)
    return ["sleep 300", "sleep 301"].every((command) => found.some((one) => one.command === command))
      ? found
      : undefined
  })
  return { harness, processes }
})

const nobodyLeft = (harness: HarnessProcess, processes: Parameters<typeof alive>[0], seconds: number) =>
  eventually(`the end of ${JSON.stringify(processes)}`, seconds, harness, () =>
    alive(processes).length === 0 ? true : undefined
  )

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
        const summary = JSON.parse(read(join(out, "summary.json"))) as Record<string, unknown>
        assert.deepInclude(summary, { outcome: "done", condition: "M1-hello-world", error: null })
        assert.deepStrictEqual(authorsOf(events), ["user", "lead-1", "implementer-1", "lead-1", "reviewer-1", "lead-1"])
        for (const agent of ["lead-1", "implementer-1", "reviewer-1"]) {
          assert.match(read(join(out, `${agent}.stdout.log`)), /turn complete for channel/)
        }
        assert.include(read(join(out, "transcript.json")), "DONE: hello.txt holds the line")
      }).pipe(Effect.scoped),
    TEST_LIMIT
  )

  it.live(
    "says in plain lines what happens, how it ended, where the bundle is and what to type next",
    () =>
      Effect.gen(function* () {
        const out = yield* bundlePath
        const harness = yield* start(["demo", "--out", out], { env: { NO_COLOR: "1" } })
        assert.strictEqual(yield* harness.ended, 0, harness.stderr())
        const lines = harness.stdout().trimEnd().split("\n")
        assert.strictEqual(
          lines[0],
          "A team of three solves a small task on this machine: a lead, an implementer and a reviewer."
        )
        assert.isTrue(lines.some((line) => /s {2}lead-1: @implementer-1 please write hello\.txt/.test(line)))
        assert.isTrue(lines.some((line) => /s {2}reviewer-1 in turn 1$/.test(line)))
        const end = lines.slice(lines.lastIndexOf("") + 1)
        assert.match(end[0] ?? "", /^done: /)
        assert.match(end[1] ?? "", /^phases {4}prepare [\d.]+ s, .*observe [\d.]+ s.* in all$/)
        assert.deepStrictEqual(end.slice(-3), [
          "stopped   every process of the stack is gone",
          `bundle    ${out}`,
          `next:     cat ${out}/transcript.json`
        ])
      }).pipe(Effect.scoped),
    TEST_LIMIT
  )

  /** From util-linux; gives a program a terminal. */
  const SCRIPT = "/usr/bin/script"
  it.live.skipIf(!fs.existsSync(SCRIPT))(
    "on a terminal repaints a block and leaves the cursor visible",
    () =>
      Effect.gen(function* () {
        const out = yield* bundlePath
        const command = `stty cols 100 rows 30; exec '${process.execPath}' packages/cli/src/bin.ts demo --out ${out}`
        const typescript = execFileSync(SCRIPT, ["-qec", command, "/dev/null"], {
          cwd: ROOT,
          env: { ...process.env, TERM: "xterm-256color", NO_COLOR: "" },
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
        const summary = JSON.parse(read(join(out, "summary.json"))) as Record<string, unknown>
        assert.deepInclude(summary, { outcome: "interrupted" })
        assert.isTrue(fs.existsSync(join(out, "lead-1.stdout.log")))
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
