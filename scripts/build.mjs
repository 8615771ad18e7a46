#!/usr/bin/env node
// Builds what is published into packages/*/dist: modules and declarations with tsc, the programs of the reference stack
// as single files. `pnpm -r pack` or `pnpm -r publish` take it from there. Then dist/buzz-orchestra, the command as one file,
// unless only packages are asked for (`--packages`).
import { spawnSync } from "node:child_process"
import { readdirSync, rmSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const packages = readdirSync(new URL("../packages", import.meta.url)).map((name) => `packages/${name}`)

const run = (command, args) => {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit" })
  if (status !== 0) {
    console.error(`${command} ${args.join(" ")} failed${error === undefined ? "" : `: ${error.message}`}`)
    process.exit(status ?? 1)
  }
}

// A file whose source is gone must not be published, and tsc never deletes.
for (const directory of packages) {
  rmSync(new URL(`../${directory}/dist`, import.meta.url), { recursive: true, force: true })
}
run("tsc", ["-b", "--force", ...packages])
run("node", ["packages/reference-stack/scripts/build.mjs", "--dist"])
console.log("built packages/*/dist")
if (!process.argv.includes("--packages")) run("node", ["scripts/binary.mjs"])
