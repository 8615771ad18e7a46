#!/usr/bin/env node
// Fails when a public export has no docstring. Reads the emitted declarations, so it sees exactly what a user's editor
// sees. Run after `tsc -b`.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const declared = /^export (?:declare )?(?:abstract )?(?:const|function|class|interface|type|enum|namespace) (\w+)/

/** Whether the published export map lets a user import a declaration, given as a path below `dist/`. */
const isPublic = (exported) => {
  const targets = Object.values(exported).flatMap((target) => (typeof target?.types === "string" ? [target.types] : []))
  const closed = Object.keys(exported).filter((key) => exported[key] === null)
  return (file) => {
    const subpath = `./${file.replace(/\.d\.ts$/, "")}`
    if (closed.some((key) => (key.endsWith("*") ? subpath.startsWith(key.slice(0, -1)) : subpath === key))) return false
    return targets.some((target) => {
      const [before, after] = target.replace("./dist/", "").split("*")
      return after === undefined ? file === before : file.startsWith(before) && file.endsWith(after)
    })
  }
}

/** The declarations that a user's editor sees. */
const publicDeclarations = (directory) => {
  const { publishConfig } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"))
  const open = isPublic(publishConfig.exports)
  return (
    readdirSync(join(directory, "dist"), { recursive: true })
      .filter((file) => file.endsWith(".d.ts") && open(file))
      // A declaration whose source is gone stays in dist until the next clean build.
      .filter((file) => existsSync(join(directory, "src", file.replace(/\.d\.ts$/, ".ts"))))
      .map((file) => join(directory, "dist", file))
  )
}

/** Names that a file exports without a docstring on any of their declarations (a schema and its type share a name). */
const undocumented = (text) => {
  const lines = text.split("\n")
  const documented = new Set()
  const all = new Set()
  lines.forEach((line, index) => {
    const name = declared.exec(line)?.[1]
    if (name === undefined) return
    all.add(name)
    if (lines[index - 1]?.trimEnd().endsWith("*/") && !isModuleDoc(lines, index - 1)) documented.add(name)
  })
  return [...all].filter((name) => !documented.has(name))
}

/** The comment that opens a file describes the module; it is not the docstring of whatever happens to follow it. */
const isModuleDoc = (lines, end) => {
  let start = end
  while (start > 0 && !lines[start].trimStart().startsWith("/**")) start--
  return start === 0 && lines.slice(end + 1).some((line) => line.startsWith("import "))
}

let count = 0
const missing = []
for (const name of readdirSync(join(root, "packages")).toSorted()) {
  const dist = join(root, "packages", name, "dist")
  if (!existsSync(dist)) {
    console.error(`packages/${name}/dist is missing: run "npm run check -- types" first`)
    process.exit(1)
  }
  for (const file of publicDeclarations(join(root, "packages", name))) {
    count++
    for (const missed of undocumented(readFileSync(file, "utf8"))) missing.push(`${relative(root, file)}: ${missed}`)
  }
}
for (const line of missing) console.log(`no docstring: ${line}`)
console.log(`${count} declaration files, ${missing.length} exports without a docstring`)
process.exitCode = missing.length > 0 ? 1 : 0
