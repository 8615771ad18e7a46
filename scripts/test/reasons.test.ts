/**
 * Every outcome and every reason has a test in which the code itself comes to it. `fixtures/reason-tests.json` names the test;
 * here it is looked up and read: it must assert the name, and nothing in its file may make the reason by hand.
 */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { OUTCOME_CODES, REASON_CODES } from "../../packages/cli/src/ExitCode.ts"
import tests from "./fixtures/reason-tests.json" with { type: "json" }
import { testBodies } from "./TestBodies.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** What is wrong with a test as proof that `name` happens, in words. `source` is its file, absent when there is none. */
const faultsOf = (name: string, source: string | undefined, titles: ReadonlyArray<string>): ReadonlyArray<string> => {
  const found = testBodies(source ?? "").find((test) => test.titles.join(" › ") === titles.join(" › "))
  if (source === undefined || found === undefined) return ["there is no such test"]
  return [
    // As a text of its own, or the first word of one: some tests write a reason with its place.
    ...(new RegExp(`["'\`]${name}["'\` ]`).test(found.body) ? [] : ["it does not name it"]),
    ...(/\bassert\b/.test(found.body) ? [] : ["it asserts nothing"]),
    ...(makes(name).test(source) ? ["its file makes the reason itself"] : [])
  ]
}

/** `new Tag(`, `new Errors.Tag(`, `Tag.make(`. */
const makes = (tag: string): RegExp => new RegExp(`\\bnew (?:\\w+\\.)?${tag}\\(|\\b${tag}\\.make\\(`)

const check = ([name, reference]: readonly [string, string]): ReadonlyArray<string> => {
  const [file = "", ...titles] = reference.split(" › ")
  const path = `${root}packages/${file.replace("/", "/test/")}`
  const source = existsSync(path) ? readFileSync(path, "utf8") : undefined
  return faultsOf(name, source, titles).map((fault) => `${name}: ${fault}: ${reference}`)
}

describe("every outcome and every reason", () => {
  it("has a test, and nothing else has one", () => {
    assert.sameMembers(Object.keys(tests.reasons), Object.keys(REASON_CODES))
    assert.sameMembers(Object.keys(tests.outcomes), Object.keys(OUTCOME_CODES))
  })

  it("is asserted by its test, which does not make it by hand", () => {
    assert.deepStrictEqual(Object.entries({ ...tests.outcomes, ...tests.reasons }).flatMap(check), [])
  })

  it("is made by the sources, and not only by what they offer to tests", () => {
    const sources = readdirSync(`${root}packages`).flatMap((name) => {
      const directory = `${root}packages/${name}/src`
      return readdirSync(directory, { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts") && !file.startsWith("testing/"))
        .map((file) => readFileSync(join(directory, file), "utf8"))
    })
    const unmade = Object.keys(REASON_CODES).filter((tag) => !sources.some((source) => makes(tag).test(source)))
    assert.deepStrictEqual(unmade, [])
  })
})

describe("the reading of a test", () => {
  const source = [
    "const CASES = [",
    '  ["a", "Listed"]',
    "] as const",
    'describe("outer", () => {',
    '  it.effect("asserts", () =>',
    "    Effect.gen(function* () {",
    '      assert.strictEqual(error._tag, "Fired")',
    "    })",
    "  )",
    '  it("asserts nothing", () => {',
    '    console.log("Fired")',
    "  })",
    "  for (const [what, name] of CASES) {",
    "    it(`of ${what}`, () => {",
    "      assert.strictEqual(fire(what), name)",
    "    })",
    "  }",
    "  for (const name of [",
    '    "Looped"',
    "  ]) {",
    '    it("in a loop", () => {',
    "      assert.strictEqual(fire(), name)",
    "    })",
    "  }",
    "  it.each([",
    '    ["a", "Tabled at 1:2"]',
    "  ] as const)(",
    '    "of a table",',
    "    (what, expected) => {",
    "      assert.strictEqual(fire(what), expected)",
    "    }",
    "  )",
    "})"
  ].join("\n")
  const faults = (name: string, title: string, text = source) => faultsOf(name, text, ["outer", title])

  it("takes a name in the test, in its loop, in its table, and in the list that it runs for", () => {
    assert.deepStrictEqual(faults("Fired", "asserts"), [])
    assert.deepStrictEqual(faults("Looped", "in a loop"), [])
    assert.deepStrictEqual(faults("Tabled", "of a table"), [])
    assert.deepStrictEqual(faults("Listed", "of ${what}"), [])
  })

  it("takes no name from another test, and none that is part of another", () => {
    assert.deepStrictEqual(faults("Fired", "in a loop"), ["it does not name it"])
    assert.deepStrictEqual(faults("Looped", "asserts"), ["it does not name it"])
    assert.deepStrictEqual(faults("Fire", "asserts"), ["it does not name it"])
  })

  it("refuses a test that is not there, that asserts nothing, or that makes what it asserts", () => {
    assert.deepStrictEqual(faults("Fired", "flies"), ["there is no such test"])
    assert.deepStrictEqual(faultsOf("Fired", undefined, ["outer", "asserts"]), ["there is no such test"])
    assert.deepStrictEqual(faults("Fired", "asserts nothing"), ["it asserts nothing"])
    for (const made of ["const x = new Fired({})", "const x = new Errors.Fired({})", "const x = Fired.make({})"])
      assert.deepStrictEqual(faults("Fired", "asserts", `${source}\n${made}`), ["its file makes the reason itself"])
    assert.deepStrictEqual(faults("Fired", "asserts", `${source}\nconst x = new FiredTwice({})`), [])
  })
})
