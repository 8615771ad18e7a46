import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { age, clip, count, duration, oneLine, padEnd, padStart, width, wrap } from "../src/internal/terminalText.ts"

const ESCAPE = String.fromCodePoint(0x1b)

describe("oneLine", () => {
  it("folds lines and white space", () => {
    assert.strictEqual(oneLine("  two\n lines\tand a tab \r\n"), "two lines and a tab")
  })
  it("takes out escape sequences, with what they carry", () => {
    assert.strictEqual(oneLine(`${ESCAPE}[31mred${ESCAPE}[0m`), "red")
    assert.strictEqual(oneLine(`${ESCAPE}]0;a new window title\u0007text`), "text")
    assert.strictEqual(oneLine(`${ESCAPE}]8;;http://example.com${ESCAPE}\\link${ESCAPE}]8;;${ESCAPE}\\`), "link")
    assert.strictEqual(oneLine(`a${ESCAPE}cb`), "ab")
  })
  it("takes out control characters and bidirectional overrides", () => {
    assert.strictEqual(oneLine("a\u0000\u0008\u009bb\u202ec\u2066d"), "abcd")
  })
  it("leaves words of other scripts and emoji sequences alone", () => {
    assert.strictEqual(oneLine("世界 naïve 👩‍💻 שלום"), "世界 naïve 👩‍💻 שלום")
  })
  it.prop("never lets a control character through", [Schema.String], ([text]) => {
    assert.notMatch(oneLine(`${text}${ESCAPE}${text}\n${text}`), /\p{Cc}/u)
  })
})

describe("width and clip", () => {
  it("counts columns, not units", () => {
    assert.strictEqual(width("abc"), 3)
    assert.strictEqual(width("世界"), 4)
    assert.strictEqual(width("e\u0301"), 1)
    assert.strictEqual(width("👩‍💻"), 2)
    assert.strictEqual(width(`${ESCAPE}[1mabc${ESCAPE}[22m`), 3)
  })
  it("cuts between characters and says so", () => {
    assert.strictEqual(clip("hello", 5), "hello")
    assert.strictEqual(clip("hello", 4), "hel…")
    assert.strictEqual(clip("世界世界", 6), "世界…")
    assert.strictEqual(clip("世界世界", 5), "世界…")
    assert.strictEqual(clip("hello", 1), "…")
    assert.strictEqual(clip("hello", 0), "")
  })
  it.prop("a clipped text fits", [Schema.String, Schema.Natural], ([text, n]) => {
    const columns = n % 40
    assert.isAtMost(width(clip(oneLine(text), columns)), columns)
  })
  it("wraps at spaces, and says when there was more", () => {
    assert.deepStrictEqual(wrap("one two three", 8, 3), ["one two", "three"])
    assert.deepStrictEqual(wrap("one two three four five", 8, 2), ["one two", "three f…"])
    assert.deepStrictEqual(wrap("incomprehensible word", 8, 3), ["incompr…", "word"])
    assert.deepStrictEqual(wrap("", 8, 3), [""])
  })
  it.prop("wrapped lines fit and are few", [Schema.String, Schema.Natural], ([text, n]) => {
    const columns = 1 + (n % 40)
    const lines = wrap(oneLine(text), columns, 3)
    assert.isAtMost(lines.length, 3)
    for (const line of lines) assert.isAtMost(width(line), columns)
  })
  it("pads by columns", () => {
    assert.strictEqual(padEnd("世", 4), "世  ")
    assert.strictEqual(padStart("12", 4), "  12")
    assert.strictEqual(padStart("12345", 4), "12345")
  })
})

describe("numbers", () => {
  it("says durations as people do", () => {
    assert.strictEqual(duration(0), "0.0 s")
    assert.strictEqual(duration(421), "0.4 s")
    assert.strictEqual(duration(9_949), "9.9 s")
    assert.strictEqual(duration(9_950), "10 s")
    assert.strictEqual(duration(59_600), "1 min 00 s")
    assert.strictEqual(duration(125_000), "2 min 05 s")
    assert.strictEqual(duration(3_840_000), "1 h 04 min")
    assert.strictEqual(duration(-5), "0.0 s")
  })
  it("lets ages tick in whole seconds", () => {
    assert.strictEqual(age(999), "0 s")
    assert.strictEqual(age(9_999), "9 s")
    assert.strictEqual(age(12_700), "12 s")
    assert.strictEqual(age(125_400), "2 min 05 s")
  })
  it("separates thousands", () => {
    assert.strictEqual(count(0), "0")
    assert.strictEqual(count(999), "999")
    assert.strictEqual(count(1_234_567), "1,234,567")
  })
})
