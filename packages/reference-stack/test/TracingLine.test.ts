import { assert, describe, it } from "@effect/vitest"
import * as LogFilter from "@buzz-orchestra/reference-stack/LogFilter"
import * as TracingLine from "@buzz-orchestra/reference-stack/TracingLine"
import { stripVTControlCharacters } from "node:util"

const record: TracingLine.LogRecord = {
  nanos: 1_781_524_800_123_456_789n,
  level: "INFO",
  target: "buzz_acp",
  message: "subscribed to channel 0b6f4c9e-5a52-4c2a-9a3e-0f0f0f0f0f0f"
}

const enabled = (text: string | undefined, target: string, level: TracingLine.Level) =>
  LogFilter.isEnabled(LogFilter.parse(text, "buzz_acp=info"), target, level)

describe("TracingLine", () => {
  it("prints microseconds, a right-aligned level, the target and the message", () => {
    assert.strictEqual(
      TracingLine.format(record, { ansi: false }),
      "2026-06-15T12:00:00.123456Z  INFO buzz_acp: subscribed to channel 0b6f4c9e-5a52-4c2a-9a3e-0f0f0f0f0f0f"
    )
    assert.match(TracingLine.format({ ...record, level: "DEBUG" }, { ansi: false }), /Z DEBUG buzz_acp: /)
    assert.match(TracingLine.format({ ...record, nanos: 1_781_524_800_000_007_000n }, { ansi: false }), /00\.000007Z/)
  })

  it("puts fields after the message", () => {
    const usage = {
      ...record,
      target: "acp::usage",
      message: "goose usage update",
      fields: { session_id: "ses_1", input: "Some(12)", output: "None", cached: 0 }
    }
    assert.match(
      TracingLine.format(usage, { ansi: false }),
      /acp::usage: goose usage update session_id=ses_1 input=Some\(12\) output=None cached=0$/
    )
  })

  it("colours between a field's name and its equals sign, and says the same without colours", () => {
    const coloured = TracingLine.format({ ...record, fields: { input: 1 } }, { ansi: true })
    assert.include(coloured, "\u001B[3minput\u001B[0m\u001B[2m=\u001B[0m1")
    assert.include(coloured, "\u001B[32m INFO\u001B[0m")
    assert.strictEqual(
      stripVTControlCharacters(coloured),
      TracingLine.format({ ...record, fields: { input: 1 } }, { ansi: false })
    )
  })
})

describe("LogFilter", () => {
  it("hides the turn lines by default and shows them once their target is named", () => {
    assert.isTrue(enabled(undefined, "buzz_acp::relay", "INFO"))
    assert.isFalse(enabled(undefined, "buzz_acp", "DEBUG"))
    assert.isFalse(enabled(undefined, "pool::prompt", "ERROR"))
    assert.isTrue(enabled("buzz_acp=info,pool=info", "pool::prompt", "INFO"))
    assert.isTrue(enabled("", "buzz_acp", "INFO"))
  })

  it("lets the longest target decide, and the last of equal ones", () => {
    const text = "info,acp=off,acp::usage=debug"
    assert.isTrue(enabled(text, "acp::usage", "DEBUG"))
    assert.isFalse(enabled(text, "acp::wire", "ERROR"))
    assert.isTrue(enabled(text, "other", "INFO"))
    assert.isFalse(enabled("pool=off,pool=warn", "pool", "INFO"))
    assert.isTrue(enabled("pool=off,pool=warn", "pool", "WARN"))
  })

  it("reads a bare target as everything and leaves out what it cannot read", () => {
    assert.isTrue(enabled("acp::wire", "acp::wire", "TRACE"))
    assert.isTrue(enabled("acp=shout,buzz_acp=warn", "buzz_acp", "WARN"))
    assert.isFalse(enabled("acp=shout,buzz_acp=warn", "acp", "ERROR"))
    assert.isTrue(enabled("DEBUG", "anything", "DEBUG"))
  })
})
