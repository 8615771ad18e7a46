#!/usr/bin/env node
// Builds what is published: the libraries and the command with tsc, the programs of the reference stack as single files.
import { spawnSync } from "node:child_process"
import { readdirSync, rmSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const run = (command, args) => {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit" })
  if (status !== 0) {
    console.error(`${command} ${args.join(" ")} failed${error === undefined ? "" : `: ${error.message}`}`)
    process.exit(status ?? 1)
  }
}

// A file whose source is gone must not be published, and tsc never deletes.
for (const name of readdirSync(new URL("../packages", import.meta.url))) {
  rmSync(new URL(`../packages/${name}/dist`, import.meta.url), { recursive: true, force: true })
}
run("tsc", ["-b", "--force"])
run("node", ["packages/reference-stack/scripts/build.mjs", "--dist"])
console.log("built packages/*/dist")
