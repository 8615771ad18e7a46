/** `show` and `bundle` on the directory of a trial of doubles, from the command line down. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { signedBy, testIdentity } from "@buzz-orchestra/relay/testing/TestIdentity"
import { TestRelay } from "@buzz-orchestra/relay/testing/TestRelay"
import * as TestTrial from "@buzz-orchestra/runtime/testing/TestTrial"
import { Trial } from "@buzz-orchestra/runtime/Trial"
import { TrialEvents } from "@buzz-orchestra/runtime/TrialEvents"
import { BUNDLE, phaseLog, RESULT, SUMMARY, TIMING, TRANSCRIPT } from "@buzz-orchestra/runtime/BundleFiles"
import { assert, layer } from "@effect/vitest"
import { Cause, ConfigProvider, Context, Effect, Exit, Fiber, FileSystem, Layer, Option, Stream } from "effect"
import { TestConsole } from "effect/testing"
import { show, verify } from "../src/BundleCommands.ts"
import { command, services } from "../src/Main.ts"
import { ExitWith, Stopping, StoppingRef } from "../src/Stopping.ts"
import type { TrialReport } from "../src/TrialReport.ts"
import * as TestOutput from "./TestOutput.ts"

const CHANNEL = "99999999-8888-4777-8666-555555555555"
const [LEAD, WORKER] = [testIdentity(2), testIdentity(3)]
const API_KEY = "an-api-key-that-nobody-knows"
const HOSTILE = `<script>alert("x")</script> & <b>'bold'</b>\u202e`

/** The directory of a trial that went well, in which a worker wrote something hostile. */
class Finished extends Context.Service<Finished, string>()("test/Finished") {
  static readonly layer = Layer.effect(
    Finished,
    Effect.gen(function* () {
      const trial = yield* Trial
      const relay = yield* TestRelay
      const options = yield* TestTrial.testTrialOptions()
      const fiber = yield* Effect.forkScoped(trial.run(options))
      const { stream } = yield* TrialEvents
      yield* Stream.runHead(Stream.filter(stream, ({ _tag }) => _tag === "Waiting"))
      const asked = yield* relay.say(LEAD, { channelId: CHANNEL, content: "please", mentions: [WORKER.pubkey] })
      const tags: Array<[string, ...Array<string>]> = [
        ["h", CHANNEL],
        ["e", asked.id, "", "reply"],
        ["p", LEAD.pubkey]
      ]
      yield* relay.push(signedBy(WORKER, { kind: 9, content: HOSTILE, tags }))
      yield* relay.say(LEAD, { channelId: CHANNEL, content: "DONE: it is there", mentions: [] })
      const { directory } = yield* Fiber.join(fiber)
      return directory
    })
  ).pipe(Layer.provide(Layer.fresh(TestTrial.layer)), Layer.provide(NodeServices.layer))
}

const layers = Layer.mergeAll(
  Finished.layer,
  services,
  TestOutput.layer(false),
  Layer.succeed(StoppingRef, new Stopping()),
  ConfigProvider.layer(ConfigProvider.fromUnknown({ ANTHROPIC_API_KEY: API_KEY }))
)

/** A copy of it, to change. */
const copied = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const directory = `${yield* fs.makeTempDirectoryScoped()}/trial`
  yield* fs.copy(yield* Finished, directory)
  return directory
})

/** Runs the command line; what it printed and its exit code. */
const invoke = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const { stdout } = yield* TestOutput.Written
  const before = yield* stdout
  const exit = yield* Effect.exit(command("9.9.9", args))
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  if (error !== undefined) assert.instanceOf(error, ExitWith)
  return {
    code: error instanceof ExitWith ? error.code : 0,
    stdout: (yield* stdout).slice(before.length),
    stderr: (yield* TestConsole.errorLines).join("\n")
  }
})

layer(layers)("show", (it) => {
  it.effect("tells outcome, team, who spoke to whom, cost, times and anomalies on one screen", () =>
    Effect.gen(function* () {
      const { code, stdout } = yield* invoke("show", yield* Finished)
      assert.strictEqual(code, 0)
      const lines = stdout.trimEnd().split("\n")
      assert.isBelow(lines.length, 24)
      for (const line of lines) assert.isAtMost(line.length, 80)
      assert.match(stdout, /^test [0-9a-f]{16}/)
      assert.match(stdout, /^done \(unscored\): lead-1 posted DONE:/m)
      assert.match(stdout, /^lead-1 .* 2 messages/m)
      assert.match(stdout, /lead-1 → worker-1: please$/m)
      assert.match(stdout, /^cost {6}/m)
      assert.match(stdout, /^phases {4}prepare /m)
      assert.match(stdout, /^anomalies/m)
      assert.notInclude(stdout, "\u202e")
    })
  )

  it.effect("tells the same as one JSON document", () =>
    Effect.gen(function* () {
      const { stdout } = yield* invoke("show", yield* Finished, "--json")
      const report = JSON.parse(stdout) as TrialReport
      assert.deepInclude(report, { outcome: "done", condition: "test", cost_usd: 0 })
      assert.deepStrictEqual(
        report.messages.map(({ author, content, to }) => [author, to.join(), content]),
        [
          ["user", "lead-1", "@lead-1 write hello.txt"],
          ["lead-1", "worker-1", "please"],
          ["worker-1", "lead-1", HOSTILE],
          ["lead-1", "", "DONE: it is there"]
        ]
      )
      assert.strictEqual(report.messages[2]?.reply_to, report.messages[1]?.id)
    })
  )

  it.effect("writes one page without a script or a request, in which nothing of others is mark-up", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* Finished
      const file = `${yield* fs.makeTempDirectoryScoped()}/trial.html`
      const { code } = yield* invoke("show", directory, "--html", file)
      assert.strictEqual(code, 0)
      const page = yield* fs.readFileString(file)
      assert.match(page, /^<!doctype html>\n<html lang="en">/)
      assert.include(page, '<meta name="viewport" content="width=device-width, initial-scale=1">')
      assert.include(page, "default-src 'none'; style-src 'unsafe-inline'")
      assert.include(page, "prefers-color-scheme:dark")
      assert.include(
        page,
        "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &lt;b&gt;&#39;bold&#39;&lt;/b&gt;</p>"
      )
      assert.notMatch(page, /<script|<img|<link|<iframe|\bsrc=|https?:|url\(|@import|\u202e/)
      for (const anchor of page.matchAll(/href="(.)/g)) assert.strictEqual(anchor[1], "#")
      // The answer stands below what it answers, one step to the right.
      assert.match(page, /class="d0 c\d">(?:(?!<article).)*please[^]*?class="d1 c\d">(?:(?!<article).)*&lt;script/)
      for (const heading of ["Timeline", "Cost by agent", "Transcript", "Anomalies"])
        assert.include(page, `>${heading}</h2>`)
    })
  )

  it.effect("says so of a page that cannot be written, and of a directory without a bundle", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const empty = yield* fs.makeTempDirectoryScoped()
      const unwritten = yield* invoke("show", yield* Finished, "--html", `${empty}/no/where.html`)
      assert.strictEqual(unwritten.code, 124)
      assert.include(unwritten.stderr, "cannot write")
      const unread = yield* invoke("show", empty)
      assert.strictEqual(unread.code, 125)
      assert.include(unread.stderr, "it is no trial directory")
    })
  )
})

layer(layers)("bundle", (it) => {
  it.effect("verify finds nothing wrong with what a trial left", () =>
    Effect.gen(function* () {
      const { code, stdout } = yield* invoke("bundle", "verify", yield* Finished)
      assert.strictEqual(code, 0)
      assert.match(stdout, /: \d+ files, all as they should be\n$/)
    })
  )

  it.effect("may be named by its folder in the trial directory, and by no other of its folders", () =>
    Effect.gen(function* () {
      const directory = yield* Finished
      const verified = yield* invoke("bundle", "verify", `${directory}/${BUNDLE}`)
      assert.deepStrictEqual([verified.code, verified.stderr], [0, ""])
      assert.match(verified.stdout, /: \d+ files, all as they should be\n$/)
      assert.strictEqual((yield* invoke("show", `${directory}/${BUNDLE}/`)).code, 0)
      const refused = yield* invoke("show", `${directory}/agent`)
      assert.strictEqual(refused.code, 125)
      assert.include(refused.stderr, "neither config.json nor agent/buzz")
    })
  )

  it.effect("verify names file and line of a secret, also of an API key that is set here, and file of a problem", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* copied
      yield* fs.writeFileString(`${directory}/${phaseLog("observe")}`, `one\n${API_KEY}\n`)
      const secret = yield* invoke("bundle", "verify", directory)
      assert.strictEqual(secret.code, 123)
      assert.include(secret.stderr, `${phaseLog("observe")}:2 (trial-credential)`)
      assert.notInclude(secret.stderr + secret.stdout, API_KEY)
      yield* fs.writeFileString(`${directory}/${phaseLog("observe")}`, "one\n")
      const changed = yield* invoke("bundle", "verify", directory, "--json")
      assert.strictEqual(changed.code, 122)
      const { problems } = JSON.parse(changed.stdout) as { readonly problems: ReadonlyArray<{ readonly path: string }> }
      assert.deepStrictEqual(
        problems.map(({ path }) => path),
        [phaseLog("observe")]
      )
    })
  )

  it.effect("finish completes what a killed harness left, once", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* copied
      for (const name of [SUMMARY, RESULT, TRANSCRIPT]) yield* fs.remove(`${directory}/${name}`)
      yield* fs.writeFileString(`${directory}/${SUMMARY}.unfinished`, "{")
      assert.match((yield* invoke("show", directory)).stdout, /^anomalies the harness was killed before the end/m)
      const first = yield* invoke("bundle", "finish", directory)
      assert.strictEqual(first.code, 0)
      assert.include(first.stdout, "wrote agent/buzz/summary.json, agent/buzz/transcript.json, result.json")
      assert.include(first.stdout, "done, unscored: lead-1 posted DONE:")
      assert.include((yield* invoke("bundle", "finish", directory)).stdout, "it was complete")
      assert.strictEqual((yield* invoke("bundle", "verify", directory)).code, 0)
    })
  )
})

layer(layers)("a bundle that is refused", (it) => {
  const refusal = (directory: string) =>
    Effect.map(Effect.flip(verify({ directory, secrets: [], json: false })), ({ reason }) => reason)

  it.effect("is refused by a reason for each thing that can be wrong with it", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* copied
      const missing = yield* refusal(`${directory}/missing`)
      assert.strictEqual(missing._tag, "BundleNotReadable")
      const path = `${directory}/${TIMING}`
      const timing = yield* fs.readFileString(path)
      yield* fs.writeFileString(path, `${timing}\n`)
      const changed = yield* refusal(directory)
      assert.strictEqual(changed._tag, "BundleNotVerified")
      yield* fs.writeFileString(path, `${timing}${API_KEY}\n`)
      const leaking = yield* refusal(directory)
      assert.strictEqual(leaking._tag, "SecretsInBundle")
      yield* fs.writeFileString(path, timing)
      const html = Option.some(`${directory}/no/where.html`)
      const unwritten = yield* Effect.flip(show({ directory, json: false, html }))
      assert.strictEqual(unwritten.reason._tag, "PageNotWritten")
    })
  )
})
