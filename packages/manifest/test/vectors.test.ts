/** The hashes that the Python harness gives, for vectors written for this project and for the published manifests. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Dialect } from "../src/Dialect.ts"
import { conditionOf, readYaml } from "./support.ts"

type Expected = { readonly sha256: string; readonly canonical: string } | { readonly error: string }
type Vector = { readonly yaml: string } & { readonly [D in Dialect]: Expected }

const DIALECTS: ReadonlyArray<Dialect> = ["trunk", "study"]

const vectors: Record<string, Vector> = JSON.parse(
  readFileSync(new URL("fixtures/vectors.json", import.meta.url), "utf8")
)

const cases = Object.entries(vectors).flatMap(([name, vector]) =>
  DIALECTS.map((dialect) => ({ name, dialect, yaml: vector.yaml, expected: vector[dialect] }))
)

describe("vectors", () => {
  const hashed = cases.flatMap((each) => ("sha256" in each.expected ? [{ ...each, expected: each.expected }] : []))

  // JSON has no infinity; the Python harness writes null for it, which makes two conditions one.
  it.each(hashed.filter(({ name }) => name !== "meta-inf"))("$name as $dialect", ({ yaml, dialect, expected }) => {
    const condition = conditionOf(readYaml(yaml, dialect))
    assert.strictEqual(condition.canonical, expected.canonical)
    assert.strictEqual(condition.sha256, expected.sha256)
  })

  it.each(cases.filter(({ name, expected }) => "error" in expected || name === "meta-inf"))(
    "$name as $dialect is refused",
    ({ yaml, dialect }) => {
      assert.isTrue(Result.isFailure(readYaml(yaml, dialect)))
    }
  )

  it("are as many as were published", () => {
    assert.strictEqual(cases.length, 40)
  })
})

const shared = fileURLToPath(new URL("../../../../shared/fixtures/manifests/", import.meta.url))
const published = existsSync(shared)

describe.skipIf(!published)("published manifests", () => {
  const files = DIALECTS.flatMap((dialect) =>
    published ? readdirSync(shared + dialect).map((file) => ({ dialect, file })) : []
  )

  it("all have the hash that the Python harness gives them", () => {
    const expected: Record<string, Record<string, string>> = JSON.parse(readFileSync(`${shared}expected.json`, "utf8"))
    const actual = Object.fromEntries(
      DIALECTS.map((dialect) => [
        dialect,
        Object.fromEntries(
          files
            .filter((each) => each.dialect === dialect)
            .map(({ file }) => [
              file,
              conditionOf(readYaml(readFileSync(`${shared}${dialect}/${file}`, "utf8"), dialect)).sha256
            ])
        )
      ])
    )
    assert.deepStrictEqual(actual, expected)
    assert.isAbove(files.length, 0)
  })

  it("are told apart by what they use", () => {
    const found = files.map(({ dialect, file }) => {
      const condition = conditionOf(readYaml(readFileSync(`${shared}${dialect}/${file}`, "utf8")))
      return `${dialect}/${file}: ${condition.dialect}`
    })
    // One file of the study folder uses nothing that trunk does not have.
    const wrong = found.filter((line) => !line.startsWith(line.split(": ")[1]!))
    assert.deepStrictEqual(wrong, ["study/m1-hello-world.yaml: trunk"])
  })
})
