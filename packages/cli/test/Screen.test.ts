import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { BLANK, type Picture, repaint } from "../src/Screen.ts"

const ESCAPE = String.fromCodePoint(0x1b)
const picture = (columns: number, ...lines: ReadonlyArray<string>): Picture => ({ columns, lines })

/**
 * A terminal as far as repainting needs one: printable text that wraps at `columns`, `\r`, `\n`, cursor up, erase to the
 * end of the line and of the screen. It never scrolls, because it is as high as it needs to be.
 */
const terminal = (columns: number, output: string): ReadonlyArray<string> => {
  const rows: Array<string> = [""]
  let row = 0
  let column = 0
  const line = () => rows[row] ?? ""
  const parts = output.matchAll(new RegExp(`${ESCAPE}\\[(\\??\\d*)([A-Za-z])|(\\r)|(\\n)|([^${ESCAPE}\\r\\n])`, "g"))
  for (const [, number = "", command, carriageReturn, lineFeed, character] of parts) {
    if (carriageReturn !== undefined) column = 0
    else if (lineFeed !== undefined) {
      row += 1
      column = 0
      rows[row] ??= ""
    } else if (character !== undefined) {
      if (column === columns) {
        row += 1
        column = 0
        rows[row] ??= ""
      }
      rows[row] = line().slice(0, column).padEnd(column) + character + line().slice(column + 1)
      column += 1
    } else if (command === "A") row = Math.max(0, row - Number(number))
    else if (command === "K") rows[row] = line().slice(0, column)
    else if (command === "J") {
      rows[row] = line().slice(0, column)
      rows.length = row + 1
    }
  }
  return rows
}

describe("repaint", () => {
  it("writes nothing when nothing changed", () => {
    assert.strictEqual(repaint(picture(10, "a"), [], picture(10, "a")), "")
    assert.strictEqual(repaint(BLANK, [], picture(80)), "")
  })
  it("is one piece between the marks of a synchronised update", () => {
    assert.strictEqual(
      repaint(picture(10, "old", "lines"), ["said"], picture(10, "new")),
      `${ESCAPE}[?2026h\r${ESCAPE}[2Asaid${ESCAPE}[K\nnew${ESCAPE}[K\n${ESCAPE}[J${ESCAPE}[?2026l`
    )
  })
  it("leaves what scrolled away above the block, and only the newest block", () => {
    const first = picture(20, "lead-1 ready", "waiting")
    const second = picture(20, "lead-1 in turn 1")
    const output =
      repaint(BLANK, ["start"], first) + repaint(first, ["hello"], second) + repaint(second, [], picture(20))
    assert.deepStrictEqual(terminal(20, output), ["start", "hello", ""])
  })
  it("covers the rows into which a narrower terminal has wrapped the old lines", () => {
    const wide = picture(12, "0123456789ab", "short")
    const output = `0123456789ab\r\nshort\r\n${repaint(wide, [], picture(6, "new"))}`
    assert.deepStrictEqual(terminal(6, output), ["new", ""])
  })

  const Lines = Schema.Array(Schema.String.pipe(Schema.check(Schema.isPattern(/^[a-z]{0,9}$/))))
  it.prop(
    "whatever the pictures, the page ends with all lines that scrolled and the last picture",
    { steps: Arbitrary.schema(Schema.Array(Schema.Struct({ above: Lines, lines: Lines }))) },
    ({ steps }) => {
      let before = BLANK
      let output = ""
      for (const { above, lines } of steps) {
        const after = picture(10, ...lines)
        output += repaint(before, above, after)
        before = after
      }
      const expected = [...steps.flatMap((step) => step.above), ...(steps.at(-1)?.lines ?? []), ""]
      assert.deepStrictEqual(terminal(10, output), expected)
    }
  )
})
