/**
 * `relay serve`: the embedded relay on its own, for agents and programs that are started by hand.
 */
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"

const MAX_PORT = 65_535

const serve = Command.make(
  "serve",
  {
    port: Flag.Int("port").pipe(
      Flag.filter(
        (port) => port >= 0 && port <= MAX_PORT,
        (port) => `Expected a port from 0 to ${MAX_PORT}, got ${port}`
      ),
      Flag.withDescription("Port on 127.0.0.1; 0 is any free one"),
      Flag.withDefault(0)
    )
  },
  Effect.fn("relay.serve")(function* ({ port }) {
    // Loaded only here, for the sake of the start of every other command.
    const { EmbeddedRelay, layer } = yield* Effect.promise(() => import("../LocalRelay.ts"))
    return yield* EmbeddedRelay.use(({ url }) =>
      Console.log(`relay ${url}\nEverything is kept in memory and gone at the end. Ctrl-C ends it.`)
    ).pipe(Effect.andThen(Effect.never), Effect.provide(layer(port, "relay serve")))
  })
).pipe(
  Command.withDescription("Serve a Buzz relay on this machine, in memory, until Ctrl-C"),
  Command.withExamples([
    { command: "buzz-orchestra relay serve", description: "On any free port; the first line says which" },
    { command: "buzz-orchestra relay serve --port 3600", description: "On ws://127.0.0.1:3600" }
  ])
)

/** `buzz-orchestra relay`. */
export const relay = Command.make("relay").pipe(
  Command.withDescription("Serve a relay"),
  Command.withSubcommands([serve])
)
