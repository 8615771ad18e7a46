/**
 * `bundle finish|verify`: what a trial left, completed or checked again.
 */
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { importBundleCommands } from "../internal/importBundleCommands.ts"

/** The directory of a trial. */
export const directoryArgument = Argument.Path("dir").pipe(Argument.withDescription("The directory that a trial left"))

const flags = {
  directory: directoryArgument,
  secrets: Flag.String("secret-env").pipe(
    Flag.withMetavar("NAME"),
    Flag.withDescription(
      "Also look for the value of this variable; may be repeated. API keys that are set are looked for"
    ),
    Flag.atLeast(0)
  ),
  json: Flag.Boolean("json").pipe(Flag.withDescription("Print one JSON document instead"), Flag.withDefault(false))
}

const finish = Command.make(
  "finish",
  flags,
  Effect.fn("bundle.finish")(function* (given) {
    const { finish } = yield* importBundleCommands
    yield* finish(given)
  })
).pipe(
  Command.withDescription("Complete what a killed harness left, as far as it can be known from the directory itself"),
  Command.withExamples([
    { command: "buzz-orchestra bundle finish trials/first", description: "Write the documents that are missing" }
  ])
)

const verify = Command.make(
  "verify",
  flags,
  Effect.fn("bundle.verify")(function* (given) {
    const { verify } = yield* importBundleCommands
    yield* verify(given)
  })
).pipe(
  Command.withDescription("Check digests, documents, accounts and secrets of a bundle again, offline"),
  Command.withExamples([
    { command: "buzz-orchestra bundle verify trials/first", description: "Say what is wrong, file by file" },
    {
      command: "buzz-orchestra bundle verify trials/first --secret-env RELAY_OWNER_KEY",
      description: "Look for one more secret before publishing it"
    }
  ])
)

/** `buzz-orchestra bundle`. */
export const bundle = Command.make("bundle").pipe(
  Command.withDescription("Complete or check what a trial left"),
  Command.withSubcommands([finish, verify])
)
