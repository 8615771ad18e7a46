#!/usr/bin/env node
// Runs the random suites with their full counts and ends with the figures for docs/testing.md. Arguments are vitest's: a
// part of a path, `-t TITLE`. Without any, every suite runs that has more to do in a soak: those that read their counts
// from Cases.ts, and every property.
import { spawn } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { cpus, release, totalmem } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const GIB = 2 ** 30

/** Whether a test file has random cases. */
const isRandom = (file) => /\/Cases\.ts"|\.prop\(/.test(readFileSync(join(root, file), "utf8"))

const suites = () =>
  readdirSync(join(root, "packages"))
    .flatMap((name) =>
      readdirSync(join(root, "packages", name, "test"), { recursive: true })
        .filter((file) => file.endsWith(".test.ts"))
        .map((file) => `packages/${name}/test/${file}`)
    )
    .filter(isRandom)
    .toSorted()

const chosen = process.argv.slice(2)
const args = ["run", "--config", "scripts/soak.config.ts", ...(chosen.length > 0 ? chosen : suites())]
const [cpu] = cpus()
console.log(
  `${cpu?.model ?? "unknown processor"}, ${cpus().length} cores, ${Math.round(totalmem() / GIB)} GiB, ` +
    `Linux ${release()}, Node ${process.versions.node}`
)
const child = spawn("vitest", args, { cwd: root, env: { ...process.env, SOAK: "1", TESTS: "all" }, stdio: "inherit" })
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal))
process.on("SIGINT", () => {})
child.on("close", (code) => (process.exitCode = code ?? 1))
