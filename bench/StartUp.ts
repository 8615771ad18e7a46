/**
 * Bench `start-up`: how long a person waits for `--version` and `--help`, against a Node that does nothing.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { buildCommand } from "./BuiltCommand.ts"
import { ROOT } from "./Checkout.ts"
import { ratio, spread, table } from "./Report.ts"
import { median } from "./Statistics.ts"

const ROUNDS = 15

/** A busy machine gets fewer rounds, but never fewer than `LEAST_ROUNDS`. */
const BUDGET_MILLIS = 20_000
const LEAST_ROUNDS = 5

/** The report. */
export const startUp = Effect.acquireUseRelease(
  Effect.sync(() => ({ built: buildCommand(), empty: mkdtempSync(join(tmpdir(), "bench-empty-")) })),
  ({ built, empty }) => Effect.sync(() => measure(emptyScript(empty), built.bin)),
  ({ built, empty }) => Effect.sync(() => [built.directory, empty].forEach((path) => rmSync(path, { recursive: true })))
)

const emptyScript = (directory: string): string => {
  const file = join(directory, "empty.mjs")
  writeFileSync(file, "")
  return file
}

const measure = (empty: string, built: string): string => {
  const source = join(ROOT, "packages/cli/src/bin.ts")
  const commands = [
    { name: "an empty script", argv: [empty] },
    { name: "--version, from source", argv: [source, "--version"] },
    { name: "--version, built", argv: [built, "--version"] },
    { name: "--help, from source", argv: [source, "--help"] },
    { name: "--help, built", argv: [built, "--help"] }
  ]
  const times = commands.map((): Array<number> => [])
  // Fills the file system's cache.
  for (const { argv } of commands) timeOf(argv)
  const end = performance.now() + BUDGET_MILLIS
  let rounds = 0
  // Interleaved, so that all see the same neighbours.
  while (rounds < LEAST_ROUNDS || (rounds < ROUNDS && performance.now() < end)) {
    for (const [index, { argv }] of commands.entries()) times[index]?.push(timeOf(argv))
    rounds++
  }
  const base = median(times[0] ?? [])
  const rows = commands.map(({ name }, index) => {
    const values = times[index] ?? []
    return [name, spread(values), ratio(median(values), base)]
  })
  return table([`${rounds} runs each`, "ms: median (p10–p90)", "to the empty script"], rows)
}

const timeOf = (argv: ReadonlyArray<string>): number => {
  const start = performance.now()
  const { status, stderr } = spawnSync(process.execPath, argv, {
    stdio: ["ignore", "ignore", "pipe"],
    encoding: "utf8"
  })
  const elapsed = performance.now() - start
  if (status !== 0) throw new Error(`${argv.join(" ")} failed: ${stderr}`)
  return elapsed
}
