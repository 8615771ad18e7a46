import { assert, describe, it } from "@effect/vitest"
import { construct, implicitType, isTyped, type ScalarType } from "../src/Yaml11Scalar.ts"

const TYPES: ReadonlyArray<readonly [ScalarType, ReadonlyArray<string>]> = [
  ["null", ["", "~", "null", "Null", "NULL"]],
  ["bool", ["yes", "Yes", "YES", "no", "on", "On", "OFF", "true", "True", "FALSE"]],
  ["int", ["0", "-0", "+12", "010", "00", "0_", "1_000", "0x1F", "-0x1f", "0b1010_0", "1:30", "190:20:30", "0x_"]],
  ["float", ["1.0", "1.", "-0.0", ".5", "1_0.5", "1.5e+3", "1.e-3", "1:30.5", ".inf", "-.INF", "+.Inf", ".NaN"]],
  ["timestamp", ["2026-01-02", "2026-1-2 3:04:05", "2026-01-02T03:04:05Z", "2001-12-14t21:59:43.10-05:00"]],
  ["merge", ["<<"]],
  ["value", ["="]],
  ["str", ["y", "n", "Y", "tRue", "nULL", "08", "0o17", "1e5", "1e-7", "1.0e5", "-.5", "1:60", "2026-1-2", "0b2", "a"]]
]

const INTEGERS: ReadonlyArray<readonly [string, bigint]> = [
  ["010", 8n],
  ["-010", -8n],
  ["0x1F", 31n],
  ["-0b11", -3n],
  ["1_000", 1000n],
  ["1:30", 90n],
  ["-190:20:30", -685230n],
  ["12345678901234567890", 12345678901234567890n]
]

const FLOATS: ReadonlyArray<readonly [string, number]> = [
  ["1.", 1],
  ["-0.0", -0],
  ["1:30.5", 90.5],
  ["190:20:30.15", 685230.15],
  ["1_0.5_0", 10.5],
  ["1.5e+300", 1.5e300],
  ["123456789012345680.0", 123456789012345680]
]

const TIMESTAMPS: ReadonlyArray<readonly [string, string]> = [
  ["2026-01-02", "2026-01-02"],
  ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"],
  ["2026-1-2 3:04:05", "2026-01-02T03:04:05"],
  ["2026-01-02 03:04:05.678", "2026-01-02T03:04:05.678000"],
  ["2026-01-02 03:04:05.1234567", "2026-01-02T03:04:05.123456"],
  ["2026-01-02 03:04:05.000", "2026-01-02T03:04:05"],
  ["2001-12-14t21:59:43.10-05:00", "2001-12-14T21:59:43.100000-05:00"],
  ["2026-01-02 03:04:05 +5", "2026-01-02T03:04:05+05:00"],
  ["2026-01-02 03:04:05 +00:00", "2026-01-02T03:04:05Z"],
  ["2024-02-29", "2024-02-29"]
]

const REFUSED: ReadonlyArray<readonly ["bool" | "int" | "float" | "timestamp", string]> = [
  ["bool", "maybe"],
  ["int", "0x_"],
  ["int", "x"],
  ["int", ""],
  ["int", "9".repeat(4301)],
  ["float", ".inf"],
  ["float", ".nan"],
  ["float", "1.0e+999"],
  ["float", "x"],
  ["timestamp", "2026-02-30"],
  ["timestamp", "2026-13-01"],
  ["timestamp", "0000-01-01"],
  ["timestamp", "2023-02-29"],
  ["timestamp", "2026-01-02 24:00:00"],
  ["timestamp", "2026-01-02 03:04:60"],
  ["timestamp", "2026-01-02 03:04:05+24:00"],
  ["timestamp", "today"]
]

describe("implicitType", () => {
  it.each(TYPES.flatMap(([type, texts]) => texts.map((text) => [text, type] as const)))(
    "reads %j as %s",
    (text, type) => {
      assert.strictEqual(implicitType(text), type)
    }
  )
})

describe("construct", () => {
  it.each(INTEGERS)("reads the integer %s as %s", (text, value) => {
    assert.deepStrictEqual(construct("int", text), { _tag: "Integer", value })
  })

  it.each(FLOATS)("reads the float %s as %s", (text, value) => {
    assert.deepStrictEqual(construct("float", text), { _tag: "Float", value })
  })

  it.each(TIMESTAMPS)("reads the date %s as %s", (text, value) => {
    assert.deepStrictEqual(construct("timestamp", text), { _tag: "Timestamp", value })
  })

  it.each(REFUSED)("refuses as %s: %.20s", (type, text) => {
    assert.isFalse(isTyped(construct(type, text)))
  })

  it("reads any case of a boolean behind a tag, and anything as null behind one", () => {
    assert.deepStrictEqual(construct("bool", "yEs"), { _tag: "Boolean", value: true })
    assert.deepStrictEqual(construct("bool", "oFF"), { _tag: "Boolean", value: false })
    assert.deepStrictEqual(construct("null", "x"), { _tag: "Null" })
  })
})
