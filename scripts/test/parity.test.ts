import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { parseMap, successorOf, type TestReference, testsOf } from "./ParityMap.ts"
import names from "./fixtures/parity-names.json" with { type: "json" }
import { testTitles } from "./TestTitles.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const rows = parseMap(readFileSync(`${root}docs/parity.md`, "utf8"))
const byName = new Map(rows.map((row) => [row.name, row]))

/** A test that the page names and that is not there, in the words of the page; nothing when it is. */
const missing = ({ file, titles }: TestReference): ReadonlyArray<string> => {
  const found = existsSync(root + file) ? testTitles(readFileSync(root + file, "utf8")) : []
  const wanted = titles.join(" › ")
  return found.some((path) => path.join(" › ") === wanted) ? [] : [`${file} › ${wanted}`]
}

describe("docs/parity.md", () => {
  it("has every name once, in its section", () => {
    const sections = Object.keys(names)
    const map = Object.fromEntries(sections.map((section) => [section, [] as Array<string>]))
    for (const { name, section } of rows) (map[section] ??= []).push(name)
    assert.deepStrictEqual(map, names)
    assert.strictEqual(byName.size, rows.length)
  })

  it("says of each row what must hold, and has what its status asks for", () => {
    const wrong = rows.flatMap((row) => {
      const complete = {
        proved: () => testsOf(row) !== undefined,
        superseded: () => byName.get(successorOf(row) ?? "")?.status === "proved",
        later: () => /^[\w-]/.test(row.rest)
      }[row.status]
      return row.holds !== "" && complete?.() === true ? [] : [`${row.name}: ${row.status}: ${row.rest}`]
    })
    assert.deepStrictEqual(wrong, [])
  })

  it("names tests that exist", () => {
    const tests = rows.filter(({ status }) => status === "proved").flatMap((row) => testsOf(row) ?? [])
    assert.isAbove(tests.length, 0)
    assert.deepStrictEqual(tests.flatMap(missing), [])
  })
})

describe("the reading of the page and of test files", () => {
  it("finds tests in groups, in cases and as templates, and none that never runs", () => {
    const source = [
      'it("alone", () => {',
      '  assert.strictEqual(text("x"), "y")',
      "})",
      'describe("outer", () => {',
      "  for (const n of [1]) {",
      "    it.effect(`case ${n}`, () =>",
      "    )",
      "  }",
      '  describe("inner", () => {',
      '    it.each([["a", "b"]])("of \\"%s\\"", () => {})',
      "  })",
      "  it.each([",
      '    ["a"]',
      "  ] as const)(",
      '    "on several lines",',
      "  )",
      '  it.skip("never", () => {})',
      '  it.todo("some day")',
      '  // it("in a comment", () => {})',
      '  it.live.skipIf(absent)("sometimes", () => {})',
      "})",
      'layer(Layer.mergeAll(A, B))("of a layer", (it) => {',
      '  it.effect.prop("a law", [A], () => {})',
      "})"
    ].join("\n")
    assert.deepStrictEqual(testTitles(source), [
      ["alone"],
      ["outer", "case ${n}"],
      ["outer", "inner", 'of "%s"'],
      ["outer", "on several lines"],
      ["outer", "sometimes"],
      ["of a layer", "a law"]
    ])
  })

  it("notices a test and a file that are not there", () => {
    const file = "packages/runtime/test/Trial.test.ts"
    const [first = []] = testTitles(readFileSync(root + file, "utf8"))
    assert.deepStrictEqual(missing({ file, titles: first }), [])
    assert.deepStrictEqual(missing({ file, titles: ["Trial.run", "flies"] }), [`${file} › Trial.run › flies`])
    assert.deepStrictEqual(missing({ file: "packages/x.test.ts", titles: first }).length, 1)
  })

  it("reads a row with a bar and several tests, and refuses one that is no row", () => {
    const [row] = parseMap(
      "## S\n\n| `a` | b | proved | `relay/server/X.test.ts › c \\| d`<br>`cli/Y.test.ts › e › f` |"
    )
    assert.deepStrictEqual(row === undefined ? undefined : testsOf(row), [
      { file: "packages/relay/test/server/X.test.ts", titles: ["c | d"] },
      { file: "packages/cli/test/Y.test.ts", titles: ["e", "f"] }
    ])
    assert.throws(() => parseMap("## S\n\n| `a` | b | c |"))
  })
})

const SHARED = `${root}../shared/`
const HARNESS = { seed: "seeds/000_db19fa8e3de45344.txt", behaviour: "reference/orchestra-behaviour.md" }

/** Names in the first column of a section's table; those that a table shortens begin with `_` or end with `...`. */
const tableNames = (behaviour: string, section: string): ReadonlyArray<string> => {
  const [, text = ""] = behaviour.split(`\n### ${section} `)
  const [table = ""] = text.split("\n### ")
  return table
    .split("\n")
    .filter((line) => /^\| (?!test )/.test(line))
    .flatMap((line) => (line.split("|")[1] ?? "").replaceAll(/\[[^\]]*\]|\([^)]*\)/g, "").split(/[;/]/))
    .map((name) => name.trim())
    .filter((name) => name !== "")
}

// The harness's own tests are no part of the project; where they lie beside it, the list of names is compared with them.
describe.skipIf(!existsSync(SHARED + HARNESS.behaviour))("the list of names, against the harness itself", () => {
  it("has every test of its first version", () => {
    const tests = [...readFileSync(SHARED + HARNESS.seed, "utf8").matchAll(/^(?:async )?def (test_\w+)/gm)]
    assert.deepStrictEqual(
      names["The core"],
      tests.map(([, name]) => name)
    )
  })

  it.each([
    ["9.1", "The runtime"],
    ["9.2", "The life of a trial"],
    ["9.3", "The manifest"]
  ] as const)("has every row of table %s in its order, as %s", (section, title) => {
    const listed: ReadonlyArray<string> = names[title]
    const expected = tableNames(readFileSync(SHARED + HARNESS.behaviour, "utf8"), section)
    assert.strictEqual(listed.length, expected.length)
    expected.forEach((name, index) => {
      const actual = listed[index] ?? ""
      if (name.startsWith("_")) assert.isTrue(actual.endsWith(name), actual)
      else if (name.endsWith("...")) assert.isTrue(actual.startsWith(name.slice(0, -3)), actual)
      else assert.strictEqual(actual, name)
    })
  })
})
