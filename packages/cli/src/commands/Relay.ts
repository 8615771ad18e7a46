/**
 * `relay serve`: the embedded relay on its own, for agents and programs that are started by hand.
 */
import { Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"

const MAX_PORT = 65_535
const LOOPBACK = "127.0.0.1"

const flags = {
  port: Flag.Int("port").pipe(
    Flag.filter(
      (port) => port >= 0 && port <= MAX_PORT,
      (port) => `Expected a port from 0 to ${MAX_PORT}, got ${port}`
    ),
    Flag.withDescription("Port to listen on; 0 is any free one"),
    Flag.withDefault(0)
  ),
  host: Flag.String("host").pipe(
    Flag.withMetavar("ADDRESS"),
    Flag.withDescription("Address to listen on; any but the default lets other machines in"),
    Flag.withDefault(LOOPBACK)
  ),
  data: Flag.String("data").pipe(
    Flag.withMetavar("DIR"),
    Flag.withDescription("Keep everything in this directory, and go on with what is in it. Default: in memory"),
    Flag.optional
  ),
  urls: Flag.String("url").pipe(
    Flag.filter(
      (url) => /^wss?:\/\/[^/?#@\s]+\/?$/.test(url) && URL.canParse(url),
      (url) => `Expected a URL such as ws://relay.example:3600, got ${url}`
    ),
    Flag.withMetavar("URL"),
    Flag.withDescription("A further URL under which it is dialled, beside its own; may be repeated"),
    Flag.atLeast(0)
  ),
  hostBound: Flag.Boolean("host-bound").pipe(
    Flag.withDescription("Serve only those who dial one of --url, as their Host header says"),
    Flag.withDefault(false)
  ),
  closedTo: Flag.String("closed-to").pipe(
    Flag.filter(
      (pubkey) => /^[0-9a-f]{64}$/.test(pubkey),
      (pubkey) => `Expected a public key of 64 hex digits, got ${pubkey}`
    ),
    Flag.withMetavar("PUBKEY"),
    Flag.withDescription("Close it: admit this owner, the members it adds, and the keys that these attested"),
    Flag.optional
  ),
  refuseAttested: Flag.Boolean("refuse-attested").pipe(
    Flag.withDescription("With --closed-to, admit only the owner and its members"),
    Flag.withDefault(false)
  )
}

type Flags = Command.Command.Config.Infer<typeof flags>

const serve = Command.make(
  "serve",
  flags,
  Effect.fn("relay.serve")(function* (asked) {
    // Loaded only here, for the sake of the start of every other command.
    const { EmbeddedRelay, layerAt } = yield* Effect.promise(() => import("../LocalRelay.ts"))
    const relay = layerAt(
      {
        host: asked.host,
        port: asked.port,
        urls: (port) => [...(asked.host === LOOPBACK ? [] : [`ws://${authority(asked.host)}:${port}`]), ...asked.urls],
        data: Option.getOrUndefined(asked.data),
        relay: {
          hostBound: asked.hostBound,
          ...Option.match(asked.closedTo, {
            onNone: () => ({}),
            onSome: (owner) => ({ closed: { owner, admitsAttested: !asked.refuseAttested } })
          })
        }
      },
      "relay serve"
    )
    return yield* EmbeddedRelay.use(({ url }) => Console.log(greeting(asked, url).join("\n"))).pipe(
      Effect.andThen(Effect.never),
      Effect.provide(relay)
    )
  })
).pipe(
  Command.withDescription("Serve a Buzz relay on this machine until Ctrl-C"),
  Command.withExamples([
    { command: "buzz-orchestra relay serve", description: "On any free port; the first line says which" },
    {
      command: "buzz-orchestra relay serve --port 3600 --data relay",
      description: "On ws://127.0.0.1:3600, kept on disk"
    }
  ])
)

const authority = (host: string): string => (host.includes(":") ? `[${host}]` : host)

/** The first line is for programs. */
const greeting = ({ closedTo, data, host, urls }: Flags, url: string): ReadonlyArray<string> => [
  `relay ${url}`,
  ...urls.map((other) => `also ${other}`),
  ...(isLoopback(host) ? [] : [`It listens on ${host}: ${whoever(Option.isSome(closedTo))}`]),
  Option.match(data, {
    onNone: () => "Everything is kept in memory and gone at the end. Ctrl-C ends it.",
    onSome: (directory) => `Everything is kept in ${directory}. Ctrl-C ends it.`
  })
]

const whoever = (isClosed: boolean): string =>
  isClosed
    ? "whoever reaches this machine can dial it, and its members can use it."
    : "whoever reaches this machine can use it, under any key."

const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || /^127(\.\d+){3}$/.test(host)

/** `buzz-orchestra relay`. */
export const relay = Command.make("relay").pipe(
  Command.withDescription("Serve a relay"),
  Command.withSubcommands([serve])
)
