import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const page = readFileSync(`${root}docs/embedding.md`, "utf8")
const example = `${root}examples/embed/`
const sources = readdirSync(`${example}src`).map((name) => readFileSync(`${example}src/${name}`, "utf8"))

/** The code on the page in one language. */
const snippets = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)\\n\`\`\`$`, "gm"))].map(([, code = ""]) => code)

describe("docs/embedding.md", () => {
  it("has no code but what stands in the example, line by line", () => {
    assert.isAbove(snippets("ts").length, 5)
    assert.deepStrictEqual(
      snippets("ts").filter((code) => !sources.some((source) => `\n${source}`.includes(`\n${code}\n`))),
      []
    )
  })

  it("installs what the example depends on, in its versions", () => {
    const { dependencies } = JSON.parse(readFileSync(`${example}package.json`, "utf8"))
    const [line = ""] = snippets("sh")
    const [npm, install, ...packages] = line.split(" ")
    assert.deepStrictEqual([npm, install], ["npm", "install"])
    for (const name of packages) {
      const [, bare = "", version] = /^(@?[^@]+)(?:@(.*))?$/.exec(name) ?? []
      assert.property(dependencies, bare)
      if (version !== undefined) assert.strictEqual(version, dependencies[bare])
    }
  })

  it("names only modules that there are", () => {
    const modules = [...page.matchAll(/`(manifest|relay|runtime)\/(testing\/\w+)`/g)]
    assert.isAbove(modules.length, 4)
    for (const [, name, module] of modules)
      assert.doesNotThrow(() => readFileSync(`${root}packages/${name}/src/${module}.ts`))
  })
})
