/**
 * `watch`: a channel as it lives, for who wants to see a team talk without being part of it.
 */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { CommandError } from "../CommandError.ts"
import { announceError, writeExited } from "../ExitedLine.ts"
import { relayFlags, toRelayOptions } from "./RelayFlags.ts"

const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional)

/** `buzz-orchestra watch`. */
export const watch = Command.make(
  "watch",
  {
    trial: Argument.String("trial").pipe(
      Argument.withDescription("The id of a trial that runs on a relay of its own, or its beginning"),
      Argument.optional
    ),
    relay: text("relay", "URL", "The relay of the channel, where it is of no trial of this machine"),
    channel: text("channel", "UUID", "The channel"),
    keyEnv: text("key-env", "NAME", "Variable with the key of a member, as whom the channel is read"),
    ...relayFlags,
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print what happens as NDJSON"), Flag.withDefault(false))
  },
  Effect.fn("watch")(
    function* (flags) {
      const value = Option.getOrUndefined
      const relay = value(flags.relay)
      const options = yield* Effect.mapError(
        Effect.fromResult(toRelayOptions(flags, relay)),
        (reason) => new CommandError({ command: "watch", reason })
      )
      const { execute } = yield* Effect.promise(() => import("../Watching.ts"))
      const request = {
        trial: value(flags.trial),
        relay,
        channel: value(flags.channel),
        keyVariable: value(flags.keyEnv),
        options
      }
      yield* execute(request, flags.json)
      if (flags.json) yield* writeExited({ exitCode: 0, error: undefined })
    },
    (effect, { json }) => announceError(json)(effect)
  )
).pipe(
  Command.withDescription("Follow a channel live: who speaks to whom, in which thread, and who is at work"),
  Command.withExamples([
    { command: "buzz-orchestra watch", description: "The one trial of this machine that runs on a relay of its own" },
    {
      command:
        "buzz-orchestra watch --relay wss://team.relay.example --channel 6f1c2f3e-8b3d-4f51-9c40-0a7f6f5b2d10 --key-env MY_KEY",
      description: "Any channel, as a member of it"
    }
  ])
)
