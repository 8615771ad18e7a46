import { assert, describe, it } from "@effect/vitest"
import { parseDockerIgnore } from "@buzz-orchestra/runtime/docker/DockerIgnore"

const excluded = (text: string, paths: ReadonlyArray<string>) => paths.filter(parseDockerIgnore(text).excludes)

/** The examples of docs.docker.com/build/concepts/context/#dockerignore-files, each with what it is said to exclude. */
describe("parseDockerIgnore", () => {
  it("matches names in one directory by * and ?", () => {
    const paths = [
      "somedir/temporary.txt",
      "somedir/temp",
      "somedir/subdir/temporary.txt",
      "tempa",
      "tempb",
      "temp",
      "tempab"
    ]
    assert.deepStrictEqual(excluded("# comment\n*/temp*\n*/*/temp*\ntemp?\n", paths), [
      "somedir/temporary.txt",
      "somedir/temp",
      "somedir/subdir/temporary.txt",
      "tempa",
      "tempb"
    ])
  })

  it("matches any number of directories by **", () => {
    assert.deepStrictEqual(excluded("**/*.go", ["a.go", "b/a.go", "b/c/a.go", "a.gone"]), [
      "a.go",
      "b/a.go",
      "b/c/a.go"
    ])
    assert.deepStrictEqual(excluded("node_modules/**", ["node_modules/a/b", "node_module"]), ["node_modules/a/b"])
  })

  it("lets the last pattern that fits decide", () => {
    const paths = ["a.md", "README.md", "README-secret.md"]
    assert.deepStrictEqual(excluded("*.md\n!README*.md\nREADME-secret.md", paths), ["a.md", "README-secret.md"])
    assert.deepStrictEqual(excluded("*.md\nREADME-secret.md\n!README*.md", paths), ["a.md"])
  })

  it("excludes everything in an excluded directory but what is asked back", () => {
    assert.deepStrictEqual(excluded("build\n!build/keep", ["build", "build/a", "build/keep", "built"]), [
      "build",
      "build/a"
    ])
    assert.isTrue(parseDockerIgnore("build\n!build/keep").hasExceptions)
    assert.isFalse(parseDockerIgnore("build").hasExceptions)
  })

  it("ignores leading slashes, dots, blank lines and what surrounds a pattern", () => {
    assert.deepStrictEqual(excluded("\uFEFF  /foo/bar  \n\n./baz\nqux/..\n", ["foo/bar", "baz", "qux"]), [
      "foo/bar",
      "baz"
    ])
  })

  it("takes every other character as itself", () => {
    assert.deepStrictEqual(excluded("a.b+(c)$", ["a.b+(c)$", "axb+(c)$"]), ["a.b+(c)$"])
    assert.deepStrictEqual(excluded("[ab].txt\n\\*.txt\n[z", ["a.txt", "c.txt", "*.txt", "[z"]), ["a.txt", "*.txt"])
  })
})
