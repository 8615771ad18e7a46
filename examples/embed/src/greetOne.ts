/**
 * `node src/greetOne.ts OUT [STACK]`: one trial, told as it happens. Ctrl-C interrupts the program, which ends the trial in
 * order: its processes are swept and its directory is written.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Path } from "effect"
import { follow } from "./Following.ts"
import { greet } from "./Greeting.ts"
import * as Services from "./Services.ts"
import * as Team from "./Team.ts"

const [out = "greetings", stack] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const path = yield* Path.Path
  const team = yield* Team.load(stack)
  const trial = { runId: team.runId, trialId: "Ada" }
  const { outcome, text } = yield* follow(trial, greet(team, "Ada", path.resolve(out, "Ada"))).pipe(
    Effect.provide(Services.layerTrial)
  )
  yield* Console.log(`${outcome}: ${text ?? "no greeting"}`)
}).pipe(
  Effect.catchReason("RuntimeLaunchError", "BinaryMissing", ({ missing }) =>
    Console.error(`no ${missing.map(({ path }) => path).join(", no ")}: give a directory with the Buzz programs`)
  )
)

program.pipe(Effect.provide(Services.layer), NodeRuntime.runMain)
