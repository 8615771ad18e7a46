#!/usr/bin/env node
// Writes docs/errors.md from the sources, or fails when the page is not what they say.
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { errorPage } from "./ErrorPage.ts"

const file = fileURLToPath(new URL("../docs/errors.md", import.meta.url))
const page = errorPage()
const [mode] = process.argv.slice(2)
if (mode === "--write") {
  writeFileSync(file, page)
} else if (mode === "--check") {
  let found = ""
  try {
    found = readFileSync(file, "utf8")
  } catch {
    // A page that is not there is as stale as one can be.
  }
  if (found !== page) {
    const [expected, actual] = [page.split("\n"), found.split("\n")]
    const at = expected.findIndex((line, index) => line !== actual[index])
    console.error(`docs/errors.md is stale from line ${at + 1} on: run "node scripts/errors.mjs --write"`)
    console.error(`  there:   ${actual[at] ?? "(nothing)"}\n  sources: ${expected[at] ?? "(nothing)"}`)
    process.exitCode = 1
  }
} else {
  console.error("usage: node scripts/errors.mjs --check | --write")
  process.exitCode = 2
}
