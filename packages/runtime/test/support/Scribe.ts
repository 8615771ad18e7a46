/**
 * Writes logs of an agent in every known format, with text of others between the lines that looks like them, and knows what is
 * true of it.
 */
import type { AgentState } from "@buzz-orchestra/runtime/AgentState"
import { Schema } from "effect"
import { CHANNEL, START } from "./logLines.ts"

/** Stands in some of the text. */
export const SECRET = "5ec4e7".repeat(10) + "abcd"

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
/** A build, what happened, and a place to cut the logs at. */
export const Given = { build: Build, acts: Schema.Array(Act).check(Schema.isMaxLength(12)), cut: Small }
type Act = typeof Act.Type
type Counters = { input: number | undefined; output: number | undefined; cached: number | undefined }

/** Writes both logs of an agent, and what is true of it. */
export class Scribe {
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

/** The bytes of a log of these lines. */
export const bytesOf = (lines: ReadonlyArray<string>): Uint8Array =>
  new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""))

/** An agent of this build after these acts. */
export const written = (build: typeof Given.build.Type, acts: typeof Given.acts.Type): Scribe => {
  const scribe = new Scribe(build)
  for (const act of acts) scribe.act(act)
  return scribe
}
