import { assert, describe, it } from "@effect/vitest"
import * as FileLines from "@buzz-orchestra/reference-stack/buzz-dev-mcp/FileLines"

describe("FileLines", () => {
  it("numbers the lines under a header", () => {
    assert.strictEqual(FileLines.render("a.txt", "one\ntwo\n", 0, 10), "a.txt (lines 1-2 of 2)\n1:one\n2:two")
  })

  it("shows the asked part, with the numbers of the file", () => {
    assert.strictEqual(FileLines.render("a.txt", "one\r\ntwo\r\nthree", 1, 1), "a.txt (lines 2-2 of 3)\n2:two")
  })

  it("says so when there is nothing to show", () => {
    assert.strictEqual(FileLines.render("a.txt", "", 0, 10), "a.txt (no lines of 0)")
    assert.strictEqual(FileLines.render("a.txt", "one\n", 5, 10), "a.txt (no lines of 1)")
  })
})
