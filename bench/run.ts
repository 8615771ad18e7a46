/**
 * Runs the benches: `node bench/run.ts [start-up] [notice] [redaction] [relay] [trial]`, all of them by default, one after the other. Prints
 * Markdown. A target that is missed is said and is no failure.
 */
import { parseArgs } from "node:util"
import { Effect } from "effect"
import { load, machine } from "./Machine.ts"
import { notice } from "./Notice.ts"
import { ENVIRONMENTS } from "./Place.ts"
import { NodeRuntime } from "@effect/platform-node"
import { redaction } from "./Redaction.ts"
import { relayLoad } from "./relay/RelayLoad.ts"
import * as Services from "./Services.ts"
import { startUp } from "./StartUp.ts"
import { trialOverhead } from "./TrialOverhead.ts"

const BENCHES = ["start-up", "notice", "redaction", "relay", "trial"] as const
type BenchName = (typeof BENCHES)[number]

const USAGE = `usage: node bench/run.ts [${BENCHES.join("] [")}] [--environment ${ENVIRONMENTS.join("|")}]\n`

/** What was asked for; `undefined` when it cannot be understood. */
const asked = () => {
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: { environment: { type: "string", default: "local" } }
    })
    const environment = ENVIRONMENTS.find((kind) => kind === values.environment)
    const isKnown = (name: string): name is BenchName => BENCHES.some((bench) => bench === name)
    if (environment === undefined || !positionals.every(isKnown)) return undefined
    return { environment, benches: BENCHES.filter((name) => positionals.length === 0 || positionals.includes(name)) }
  } catch {
    return undefined
  }
}

const print = (text: string) => Effect.sync(() => void process.stdout.write(`${text}\n`))

const main = Effect.gen(function* () {
  const options = asked()
  if (options === undefined) {
    process.stderr.write(USAGE)
    process.exitCode = 2
    return
  }
  const reports: Readonly<Record<BenchName, Services.Bench>> = {
    "start-up": startUp,
    notice,
    redaction,
    relay: relayLoad,
    trial: trialOverhead(options.environment)
  }
  yield* print(`Machine: ${machine()}`)
  for (const name of options.benches) {
    const before = load()
    const report = yield* reports[name]
    yield* print(`\n## ${name}\n\n${report}\n\n${before} before, ${load()} after.`)
  }
})

NodeRuntime.runMain(Effect.provide(main, Services.layer))
