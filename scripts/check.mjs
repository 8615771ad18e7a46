#!/usr/bin/env node
// Everything that can be said about the sources without running them. Each step is one tool; all run, so that one
// failure does not hide the next, and the exit code is 1 when any failed. `npm run check -- types lint` runs a choice.
import { spawnSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const packages = readdirSync(new URL("../packages", import.meta.url)).toSorted()

/** Commands of a step, run in order; the step fails with the first that fails. */
const steps = {
  types: [["tsc", "-b"]],
  effect: packages.map((name) => [
    "effect-tsgo",
    "diagnostics",
    "--project",
    `packages/${name}/tsconfig.json`,
    "--strict"
  ]),
  // Circular imports are oxlint's import/no-cycle.
  lint: [["oxlint", "--deny-warnings"]],
  format: [["oxfmt", "--check", "packages", "scripts", "examples", "bench"]],
  "dead-code": [["knip"]],
  documented: [["node", "scripts/documented.mjs"]],
  errors: [["node", "scripts/errors.mjs", "--check"]],
  packed: [["vitest", "run", "--config", "vitest.checks.config.ts"]]
}

const chosen = process.argv.slice(2)
for (const name of chosen) {
  if (steps[name] === undefined) {
    console.error(`unknown step ${name}; known: ${Object.keys(steps).join(", ")}`)
    process.exit(2)
  }
}

const failed = []
for (const [name, commands] of Object.entries(steps)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  const start = performance.now()
  let code = 0
  for (const [command, ...args] of commands) {
    const result = spawnSync(command, args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 })
    if (result.status !== 0) {
      code = result.status ?? 1
      process.stdout.write(`${result.error?.message ?? ""}${result.stdout ?? ""}${result.stderr ?? ""}`)
      break
    }
  }
  if (code !== 0) failed.push(name)
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  console.log(`${code === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)`)
}
if (failed.length > 0) console.log(`failed: ${failed.join(", ")}`)
process.exitCode = failed.length > 0 ? 1 : 0
