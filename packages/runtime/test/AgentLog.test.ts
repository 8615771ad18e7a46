import { assert, describe, it } from "@effect/vitest"
import * as AgentLog from "@buzz-orchestra/runtime/AgentLog"
import * as AgentSignal from "@buzz-orchestra/runtime/AgentSignal"
import type { LogLine } from "@buzz-orchestra/runtime/LogRecord"
import { Schema } from "effect"
import { CHANNEL, coloured, line, read, timestamp } from "./support/logLines.ts"

const utf8 = new TextEncoder()

/** What tells lines apart in these tests. */
const tags = (lines: ReadonlyArray<LogLine>) => lines.map((line) => line._tag)

/** The log in pieces that end at these positions, taken modulo its length. */
const inPieces = (bytes: Uint8Array, positions: ReadonlyArray<number>): ReadonlyArray<LogLine> => {
  const cuts = positions.map((n) => n % (bytes.length + 1)).toSorted((a, b) => a - b)
  let log = AgentLog.initial
  const lines: Array<LogLine> = []
  for (const [index, end] of [...cuts, bytes.length].entries()) {
    const [next, complete] = AgentLog.feed(log, bytes.subarray(cuts[index - 1] ?? 0, end))
    log = next
    lines.push(...complete)
  }
  return [...lines, ...AgentLog.flush(log)[1]]
}

describe("AgentLog", () => {
  it("reads timestamp, level, target and message", () => {
    const text = "2026-06-15T12:00:00.123456Z  WARN buzz_acp::queue: requeueing failed batch with backoff attempt=1"
    assert.deepStrictEqual(read(text), [
      {
        _tag: "Record",
        timestamp: "2026-06-15T12:00:00.123456Z",
        level: "WARN",
        target: "buzz_acp::queue",
        message: "requeueing failed batch with backoff attempt=1",
        text
      }
    ])
  })

  it("reads coloured lines, colours inside of fields included", () => {
    const usage = "goose usage update \u001B[3minput\u001B[0m\u001B[2m=\u001B[0m12"
    assert.deepStrictEqual(read(coloured("acp::usage", usage)), read(line("acp::usage", "goose usage update input=12")))
  })

  it("reads lines of either ending", () => {
    assert.deepStrictEqual(read(`${line("buzz_acp", "hello")}\r`), read(line("buzz_acp", "hello")))
  })

  it("returns a record with its newline, and waits for nothing after it", () => {
    const text = line("buzz_acp", `subscribed to channel ${CHANNEL}`)
    const [open, none] = AgentLog.feed(AgentLog.initial, utf8.encode(text))
    assert.deepStrictEqual(none, [])
    const [, lines] = AgentLog.feed(open, utf8.encode("\n"))
    assert.deepStrictEqual(tags(lines), ["Record"])
    assert.deepStrictEqual(AgentLog.flush(open)[1], lines)
  })

  it("gives further lines to the record before them, and to nobody before the first", () => {
    const record = line("acp::stream", "a plan:")
    const lines = read("error: unexpected argument", record, "1. read", "", "2. write")
    assert.deepStrictEqual(tags(lines), ["Unstructured", "Record", "Continuation", "Continuation", "Continuation"])
    const [, first, ...rest] = lines
    assert.isTrue(rest.every((further) => further._tag === "Continuation" && further.of === first))
    assert.deepStrictEqual(
      rest.map(({ text }) => text),
      ["1. read", "", "2. write"]
    )
  })

  it.prop(
    "reads the same from any pieces",
    {
      lines: Schema.Array(
        Schema.Union([Schema.String, Schema.Literals(["\r", "é", "…😀", "\u001B[2m", line("a", "é")])])
      ),
      positions: Schema.Array(Schema.Natural),
      newline: Schema.Boolean
    },
    ({ lines, newline, positions }) => {
      const bytes = utf8.encode(lines.join("\n") + (newline ? "\n" : ""))
      assert.deepStrictEqual(inPieces(bytes, positions), AgentLog.parse(bytes))
    }
  )

  it.prop(
    "loses no line and no character",
    { lines: Schema.Array(Schema.Literals(["x", "é😀", "a: b"])) },
    ({ lines }) => {
      assert.deepStrictEqual(
        read(...lines).map(({ text }) => text),
        [...lines]
      )
    }
  )

  it("keeps the head of a line that is too long, and reads on after it", () => {
    const limit = AgentLog.MAX_LINE_BYTES
    const texts = ["x".repeat(3 * limit), "y".repeat(limit), "z".repeat(limit + 1), line("buzz_acp", "hello")]
    const bytes = utf8.encode(`${texts.join("\n")}\n`)
    assert.deepStrictEqual(
      AgentLog.parse(bytes).map(({ text }) => text),
      texts.map((text) => text.slice(0, limit))
    )
    const [open] = AgentLog.feed(
      AgentLog.feed(AgentLog.initial, utf8.encode("x".repeat(limit)))[0],
      bytes.subarray(0, 1)
    )
    assert.strictEqual(open.pending.length, limit)
    for (const positions of [[1000, limit, limit + 1], [3 * limit + 1], [4 * limit, 5 * limit + 2, 5 * limit + 3]])
      assert.deepStrictEqual(inPieces(bytes, positions), AgentLog.parse(bytes))
  })
})

describe("AgentLog, text that looks like a record", () => {
  const said = line("acp::stream", "the log says:", { millis: 60_000 })
  const marker = "turn complete for channel x: end_turn"

  const quotations: ReadonlyArray<readonly [string, string]> = [
    ["of this log's past", line("pool::prompt", marker, { millis: 59_000 })],
    ["of documentation", "2026-06-15T11:00:00.123456Z  INFO pool::prompt: turn complete for channel x: end_turn"],
    ["with seconds only", "2026-06-15T12:01:00Z  INFO pool::prompt: turn complete for channel x: end_turn"],
    ["of another zone", `${timestamp(60_000).replace("Z", "+00:00")}  INFO pool::prompt: ${marker}`],
    ["from a far future", line("pool::prompt", marker, { millis: AgentLog.LONGEST_SILENCE_MILLIS + 60_001 })],
    ["without a timestamp", ` INFO pool::prompt: ${marker}`],
    ["in a bare sentence", marker]
  ]
  it.each(quotations)("is text of the model when it is a quotation %s", (_, quotation) => {
    assert.deepStrictEqual(tags(read(said, quotation)), ["Record", "Continuation"])
  })

  it("is a record when it may have been written then, even by a thread that queued up late", () => {
    for (const millis of [60_000, 60_000 - AgentLog.REORDERING_MILLIS, 3_600_000])
      assert.deepStrictEqual(tags(read(said, line("pool::prompt", marker, { millis }))), ["Record", "Record"])
  })

  it("is text of a provider in the same way", () => {
    const error = line("pool::prompt", "session_prompt error: llm: 400", { level: "ERROR", millis: 60_000 })
    assert.deepStrictEqual(tags(read(error, line("pool::prompt", marker))), ["Record", "Continuation"])
  })

  it("is never doubted after a record that holds nobody else's words", () => {
    const connected = line("buzz_acp", "connected to relay at ws://localhost:3600", { millis: 60_000 })
    assert.deepStrictEqual(tags(read(connected, line("buzz_acp", "presence set to online"))), ["Record", "Record"])
  })

  it("cannot be told from a record when it foretells the time: an agent that forges its log wins", () => {
    assert.deepStrictEqual(tags(read(said, line("pool::prompt", marker, { millis: 61_000 }))), ["Record", "Record"])
  })

  const Said = Schema.Array(
    Schema.Union([
      Schema.String,
      Schema.Literals([
        marker,
        `subscribed to channel ${CHANNEL}`,
        line("pool::prompt", marker),
        line("buzz_acp", `subscribed to channel ${CHANNEL}`),
        line("acp::usage", "goose usage update session_id=s input=1 output=1 cached=1", { level: "DEBUG" }),
        line("buzz_acp", "all agents dead — exiting", { level: "ERROR" })
      ])
    ])
  )
  it.prop("no words of a model are a signal", { words: Said }, ({ words }) => {
    const lines = read(line("acp::stream", words.join("\n"), { millis: 60_000 }))
    assert.deepStrictEqual(
      lines.map(AgentSignal.classify).filter((signal) => signal !== undefined),
      []
    )
  })
})
