import { conditionWith } from "@buzz-orchestra/manifest/testing/TestManifest"
import * as LoggedAgent from "@buzz-orchestra/runtime/LoggedAgent"
import * as Receipt from "@buzz-orchestra/runtime/Receipt"
import * as Redaction from "@buzz-orchestra/runtime/Redaction"
import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import * as Cases from "./matrix/support/Cases.ts"
import { CHANNEL } from "./support/logLines.ts"
import { bytesOf, Given, SECRET, written } from "./support/Scribe.ts"

const redactor = Redaction.make([Redacted.make(SECRET)])

/** Both logs, each in two pieces. */
const read = (stdout: Uint8Array, stderr: Uint8Array, cut: number) => {
  const pieces = (bytes: Uint8Array) => {
    const at = bytes.length === 0 ? 0 : cut % bytes.length
    return [bytes.subarray(0, at), bytes.subarray(at)]
  }
  const fed = pieces(stdout).reduce(
    (agent, piece) => LoggedAgent.feed(agent, "stdout", piece),
    LoggedAgent.initial(CHANNEL)
  )
  return LoggedAgent.finish(pieces(stderr).reduce((agent, piece) => LoggedAgent.feed(agent, "stderr", piece), fed))
}

const agentClass = conditionWith({ roster: [{ id: "lead", generation: {} }] }).manifest.roster[0]
const price = {
  input_per_million_usd: 3,
  cached_input_per_million_usd: 0.3,
  output_per_million_usd: 15,
  cache_read_rate: 0
}

const sum = (counts: ReadonlyArray<number | undefined>): number =>
  counts.reduce((all: number, it) => all + (it ?? 0), 0)

describe("the logs of an agent", () => {
  it.prop(
    "say what it used, in every format, whatever a model says between the lines",
    Given,
    ({ acts, build, cut }) => {
      const scribe = written(build, acts)
      const [stdout, stderr] = [bytesOf(scribe.stdout), bytesOf(scribe.stderr)]
      const known = read(stdout, stderr, cut)
      const { least, receipt } = Receipt.of({ agentId: "lead-1", agentClass, price, known })
      const sessions = [...scribe.sessions.values()]
      const isMeasured = sessions.length > 0 && sessions.every(({ input }) => input !== undefined)
      const input = sum(sessions.map((session) => session.input))
      assert.deepInclude(receipt, {
        turns: scribe.turns,
        sessions: sessions.length,
        measurement: scribe.turns === 0 && sessions.length === 0 ? "idle" : isMeasured ? "measured" : "unmeasured",
        input_tokens: scribe.turns === 0 ? 0 : isMeasured ? input : null,
        output_tokens: scribe.turns === 0 ? 0 : isMeasured ? sum(sessions.map((session) => session.output)) : null,
        handoffs: scribe.handoffs,
        handoff_truncations: scribe.truncations,
        handoff_input_tokens_upper_bound: scribe.handoffs === 0 || scribe.unsized > 0 ? null : scribe.before
      })
      // Without start lines nobody can tell whether a report between two ends is late or early.
      if (build.logsStarts) assert.strictEqual(receipt.owes_usage, scribe.owes)
      assert.strictEqual(least.inputTokens, input)
      if (isMeasured)
        assert.strictEqual(
          receipt.cached_input_tokens,
          build.saysCached ? sum(sessions.map(({ cached }) => cached)) : null
        )
      assert.strictEqual(known.state._tag, scribe.state)

      const clean = Redaction.applyBytes(redactor, stdout)
      assert.notInclude(new TextDecoder().decode(clean), SECRET)
      assert.deepStrictEqual(read(clean, stderr, cut), known)
    },
    { arbitrary: Cases.options(80, 20_000) }
  )
})
