/** What `docs/relay.md` says of the embedded relay is held by tests, and they are there. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { testTitles } from "./TestTitles.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

const page = readFileSync(`${root}docs/relay.md`, "utf8")
const [, table = ""] = page.split("### What the embedded relay promises\n")

/** The second cell of each row: references with line breaks between them. */
const rows = table.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| of the relay"))
const references = (row: string): ReadonlyArray<string> => row.split(" | ")[1]?.replace(/ \|$/, "").split("<br>") ?? []

/** What is named and is not there. */
const missing = (reference: string): ReadonlyArray<string> => {
  const [, file = "", path = ""] = /^`([\w/.]+)` › (.+)$/.exec(reference) ?? []
  const source = `${root}packages/relay/test/server/${file}.test.ts`
  const found = existsSync(source) ? testTitles(readFileSync(source, "utf8")) : []
  return found.some((titles) => titles.join(" › ") === path) ? [] : [reference]
}

describe("docs/relay.md", () => {
  it("names tests that exist for everything that it promises of the embedded relay", () => {
    assert.isAbove(rows.length, 25)
    assert.deepStrictEqual(rows.flatMap(references).flatMap(missing), [])
    assert.deepStrictEqual(
      rows.filter((row) => references(row).length === 0),
      []
    )
  })
})
