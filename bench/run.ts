/**
 * Runs the benches: `node bench/run.ts [start-up] [notice] [trial]`, all of them by default, one after the other. Prints
 * Markdown. A target that is missed is said and is no failure.
 */
import { Effect } from "effect"
import { load, machine } from "./Machine.ts"
import { notice } from "./Notice.ts"
import { NodeRuntime } from "./PlatformNode.ts"
import * as Services from "./Services.ts"
import { startUp } from "./StartUp.ts"

const BENCHES: Readonly<Record<string, Services.Bench>> = { "start-up": startUp, notice }

const usage = `usage: node bench/run.ts [${Object.keys(BENCHES).join("] [")}]`

const print = (text: string) => Effect.sync(() => void process.stdout.write(`${text}\n`))

const main = Effect.gen(function* () {
  const asked = process.argv.slice(2)
  const unknown = asked.filter((name) => BENCHES[name] === undefined)
  if (unknown.length > 0) {
    process.stderr.write(`unknown bench ${unknown.join(", ")}\n${usage}\n`)
    process.exitCode = 2
    return
  }
  yield* print(`Machine: ${machine()}`)
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (asked.length > 0 && !asked.includes(name)) continue
    const before = load()
    const report = yield* bench
    yield* print(`\n## ${name}\n\n${report}\n\n${before} before, ${load()} after.`)
  }
})

NodeRuntime.runMain(Effect.provide(main, Services.layer))
