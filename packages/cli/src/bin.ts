#!/usr/bin/env node
// Answers --version before it loads anything else: importing the command takes ten times as long.
import { readFileSync } from "node:fs"

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
const [first, ...rest] = process.argv.slice(2)

if (rest.length === 0 && (first === "--version" || first === "-v")) {
  process.stdout.write(`buzz-orchestra v${version}\n`)
} else {
  const { main } = await import("./Main.ts")
  main(version)
}
