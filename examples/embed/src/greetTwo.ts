/**
 * `node src/greetTwo.ts OUT`: two trials at once in one process. They share the relay, where each has its own channel; each has
 * a sandbox of its own, whose files stay.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Path } from "effect"
import { greet } from "./Greeting.ts"
import * as Services from "./Services.ts"
import * as Team from "./Team.ts"

const [out = "greetings"] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const path = yield* Path.Path
  const team = yield* Team.load()
  yield* Effect.forEach(
    ["Ada", "Grace"],
    Effect.fnUntraced(function* (person) {
      const { outcome, text } = yield* greet(team, person, path.resolve(out, person)).pipe(
        Effect.provide(Services.layerTrialKept(path.resolve(out, `${person}-sandbox`)))
      )
      yield* Console.log(`${person}: ${outcome}: ${text ?? "no greeting"}`)
    }),
    { concurrency: "unbounded" }
  )
})

program.pipe(Effect.provide(Services.layer), NodeRuntime.runMain)
