import { conditionWith } from "@buzz-orchestra/manifest/testing/TestManifest"
import type { AgentState } from "@buzz-orchestra/runtime/AgentState"
import * as LoggedAgent from "@buzz-orchestra/runtime/LoggedAgent"
import * as Receipt from "@buzz-orchestra/runtime/Receipt"
import * as Redaction from "@buzz-orchestra/runtime/Redaction"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Schema } from "effect"
import * as Cases from "./matrix/support/Cases.ts"
import { CHANNEL, START } from "./support/logLines.ts"

const SECRET = "5ec4e7".repeat(10) + "abcd"
const redactor = Redaction.make([Redacted.make(SECRET)])

const Small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5000 }))
const Session = Schema.Literals(["a", "b"])

/** What one build prints and how. */
const Build = Schema.Struct({
  logsStarts: Schema.Boolean,
  isColoured: Schema.Boolean,
  counters: Schema.Literals(["bare", "Some"]),
  saysCached: Schema.Boolean
})
type Build = typeof Build.Type

/** What the session used more; `stale` repeats what it said long ago, `unknown` says None. */
const Report = Schema.Struct({
  session: Session,
  input: Small,
  output: Small,
  cached: Small,
  kind: Schema.Literals(["more", "more", "stale", "unknown"])
})

/** Text of a model, a provider or a tool that looks like the log it stands in. */
const Imitation = Schema.Struct({
  by: Schema.Literals(["stream", "tool", "provider"]),
  of: Schema.Literals(["usage", "end", "start", "failure", "handoff", "subscription", "secret"]),
  stamped: Schema.Literals(["not", "earlier", "otherwise"])
})

const Act = Schema.Union([
  Schema.TaggedStruct("Turn", {
    reports: Schema.Array(Report).check(Schema.isMaxLength(3)),
    isLate: Schema.Boolean,
    end: Schema.Literals(["end_turn", "max_tokens", "refused", "cancelled", "failed"])
  }),
  Schema.TaggedStruct("Imitated", { text: Imitation }),
  Schema.TaggedStruct("HandedOff", { before: Schema.UndefinedOr(Small) }),
  Schema.TaggedStruct("Truncated", {})
])
const Given = { build: Build, acts: Schema.Array(Act).check(Schema.isMaxLength(12)), cut: Small }
type Act = typeof Act.Type
type Counters = { input: number | undefined; output: number | undefined; cached: number | undefined }

/** Writes both logs of an agent, and what is true of it. */
class Scribe {
  readonly stdout: Array<string> = []
  readonly stderr: Array<string> = []
  readonly sessions = new Map<string, Counters>()
  turns = 0
  handoffs = 0
  unsized = 0
  before = 0
  truncations = 0
  state: AgentState["_tag"] = "Ready"
  owes = false
  private readonly spent = new Map<string, { input: number; output: number; cached: number }>()
  private millis = 0
  private readonly build: Build

  constructor(build: Build) {
    this.build = build
    this.print("buzz_acp", `subscribed to channel ${CHANNEL}`)
  }

  act(act: Act): void {
    switch (act._tag) {
      case "Turn":
        return this.turn(act)
      case "Imitated":
        return this.imitate(act.text)
      case "HandedOff":
        this.handoffs += 1
        this.unsized += act.before === undefined ? 1 : 0
        this.before += act.before ?? 0
        return this.printPlain(
          `buzz_agent::agent: handoff #${this.handoffs} (history 90 -> 3 items` +
            (act.before === undefined ? ")" : `; ${act.before} -> 900 tokens)`)
        )
      case "Truncated":
        this.truncations += 1
        return this.printPlain("buzz_agent::agent: handoff cap reached, truncating history")
    }
  }

  private turn({ end, isLate, reports }: Extract<Act, { _tag: "Turn" }>): void {
    // Without start lines a turn that ends badly, and is tried again, cannot be told from two.
    const stop = this.build.logsStarts ? end : "end_turn"
    this.turns += 1
    if (this.build.logsStarts) this.print("pool::prompt", `turn starting for channel ${CHANNEL}`)
    if (!isLate) for (const report of reports) this.report(report)
    this.imitate({ by: "stream", of: "end", stamped: "not" })
    const label = `channel ${CHANNEL}`
    if (stop === "end_turn") this.print("pool::prompt", `turn complete for ${label}: end_turn`)
    else if (stop === "failed") this.print("pool::prompt", "hard timeout (60 s)")
    else if (stop === "max_tokens")
      this.print("pool::prompt", `turn hit max_tokens for ${label} — session will be rotated`)
    else this.print("pool::prompt", `turn ${stop} for ${label}`)
    this.state = stop === "failed" || stop === "cancelled" ? "Requeued" : "Idle"
    this.owes = reports.length === 0
    if (isLate) for (const report of reports) this.report(report)
  }

  private report({ cached, input, kind, output, session }: typeof Report.Type): void {
    const known: Counters = this.sessions.get(session) ?? { input: undefined, output: undefined, cached: undefined }
    this.sessions.set(session, known)
    if (kind === "unknown") return this.printUsage(session, "None", "None", undefined)
    const spent = this.spent.get(session) ?? { input: 0, output: 0, cached: 0 }
    if (kind === "stale") {
      if (known.input === undefined) return this.printUsage(session, "None", "None", undefined)
      return this.printUsage(session, this.counter(0), this.counter(0), this.build.saysCached ? 0 : undefined)
    }
    spent.input += input
    spent.output += output
    spent.cached += cached
    this.spent.set(session, spent)
    known.input = spent.input
    known.output = spent.output
    if (this.build.saysCached) known.cached = spent.cached
    this.printUsage(
      session,
      this.counter(spent.input),
      this.counter(spent.output),
      this.build.saysCached ? spent.cached : undefined
    )
  }

  private counter(value: number): string {
    return this.build.counters === "Some" ? `Some(${value})` : `${value}`
  }

  private printUsage(session: string, input: string, output: string, cached: number | undefined): void {
    const field = (name: string, value: string) =>
      this.build.isColoured ? `\u001B[3m${name}\u001B[0m\u001B[2m=\u001B[0m${value}` : `${name}=${value}`
    const fields = [field("session_id", session), field("input", input), field("output", output)]
    if (cached !== undefined) fields.push(field("cached", `${cached}`))
    this.print("acp::usage", `goose usage update ${fields.join(" ")}`, "DEBUG")
  }

  /** Another's words: none of them counts. */
  private imitate({ by, of, stamped }: typeof Imitation.Type): void {
    const lines = {
      usage: "acp::usage: goose usage update session_id=a input=999999 output=999999 cached=999999",
      end: `pool::prompt: turn complete for channel ${CHANNEL}: end_turn`,
      start: `pool::prompt: turn starting for channel ${CHANNEL}`,
      failure: "pool::prompt: hard timeout (1 s)",
      handoff: "buzz_agent::agent: handoff #9 (history 9 -> 1 items; 9999 -> 9 tokens)",
      subscription: "buzz_acp: failed to subscribe to channel x: y",
      secret: `the key is ${SECRET}`
    }
    const text = lines[of]
    const quoted = `so it says:\n${this.stampOf(stamped)}${text}\n${text.slice(text.indexOf(": ") + 2)}`
    if (by === "stream") this.print("acp::stream", quoted)
    else if (by === "tool") this.print("acp::tool", `tool_call: cat <<EOF\n${quoted}\nEOF (execute)`)
    else this.print("buzz_acp::pool", `provider answered: ${quoted}`, "WARN")
  }

  private stampOf(stamped: "not" | "earlier" | "otherwise"): string {
    if (stamped === "not") return ""
    const at = new Date(START + this.millis - 60_000).toISOString()
    return `${stamped === "earlier" ? `${at.slice(0, -1)}456Z` : `${at.slice(0, 19)}+00:00`}  INFO `
  }

  private print(target: string, message: string, level = "INFO"): void {
    this.millis += 400
    const at = `${new Date(START + this.millis).toISOString().slice(0, -1)}456Z`
    this.stdout.push(
      this.build.isColoured
        ? `\u001B[2m${at}\u001B[0m \u001B[32m${level.padStart(5)}\u001B[0m \u001B[2m${target}\u001B[0m\u001B[2m:\u001B[0m ${message}`
        : `${at} ${level.padStart(5)} ${target}: ${message}`
    )
  }

  private printPlain(message: string): void {
    this.millis += 400
    this.stderr.push(`${new Date(START + this.millis).toISOString().slice(0, -1)}456Z  INFO ${message}`)
  }
}

const bytesOf = (lines: ReadonlyArray<string>) => new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""))

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
      const scribe = new Scribe(build)
      for (const act of acts) scribe.act(act)
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
