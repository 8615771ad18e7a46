/**
 * The program `buzz`: one command per call, one line of JSON on stdout or on stderr, and an exit code.
 */
import * as Identity from "@buzz-orchestra/relay/Identity"
import * as OwnerAttestation from "@buzz-orchestra/relay/OwnerAttestation"
import type { RelayReason } from "@buzz-orchestra/relay/RelayError"
import * as RelayUrl from "@buzz-orchestra/relay/RelayUrl"
import { Schnorr } from "@buzz-orchestra/relay/Schnorr"
import { Effect, Layer, Redacted, Result } from "effect"
import { text } from "node:stream/consumers"
import { HttpPost } from "../HttpPost.ts"
import { ProgramExit } from "../Program.ts"
import { RelayBridge } from "../RelayBridge.ts"
import { channelCommands } from "./ChannelCommands.ts"
import { type Command, type CommandContext, orUserError } from "./CommandContext.ts"
import * as CommandFailed from "./CommandFailed.ts"
import * as CommandLine from "./CommandLine.ts"
import * as HelpText from "./HelpText.ts"
import * as Json from "./Json.ts"
import { messageCommands } from "./MessageCommands.ts"
import { userCommands } from "./UserCommands.ts"

type Env = Readonly<Record<string, string | undefined>>

/** Runs one command and prints its answer. `args` are the arguments after the program's name. */
export const buzz = (args: ReadonlyArray<string>, env: Env = process.env): Effect.Effect<void, ProgramExit> =>
  answer(args, env).pipe(
    Effect.flatMap((line) => Effect.sync(() => void process.stdout.write(`${line}\n`))),
    Effect.provide(Schnorr.layerPure)
  )

/** Runs one command and returns its answer, one line without its end. `stdin` is asked only for a content of `-`. */
export const answer = (
  args: ReadonlyArray<string>,
  env: Env,
  stdin: () => Promise<string> = () => text(process.stdin)
): Effect.Effect<string, ProgramExit, Schnorr> =>
  Effect.gen(function* () {
    const help = helpFor(args)
    if (help !== undefined) return help
    const { options, rest } = yield* orUserError(CommandLine.globals(GLOBALS, args))
    const { command, rest: own } = yield* find(rest)
    const given = yield* orUserError(CommandLine.parse(command.options, own))
    const value = yield* runAs(command, given, yield* caller(options, env), stdin)
    return command.keepsOrder === true ? JSON.stringify(value) : Json.print(value)
  }).pipe(
    Effect.mapError(
      (error) => new ProgramExit({ code: CommandFailed.exitCode(error), stderr: CommandFailed.render(error) })
    )
  )

const GROUPS: Readonly<Record<string, Readonly<Record<string, Command>>>> = {
  users: userCommands,
  channels: channelCommands,
  messages: messageCommands
}

const GLOBALS: ReadonlyArray<CommandLine.OptionSpec> = [
  { name: "relay" },
  { name: "private-key" },
  { name: "auth-tag" },
  { name: "format", values: ["json", "compact"] }
]

const find = (args: ReadonlyArray<string>) => {
  const [group = "", name = "", ...rest] = args
  const commands = Object.hasOwn(GROUPS, group) ? GROUPS[group] : undefined
  const command = commands !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command !== undefined) return Effect.succeed({ command, rest })
  if (group === "")
    return Effect.fail(
      CommandFailed.failed("user_error", "error: 'buzz' requires a subcommand but one was not provided")
    )
  const unknown = commands === undefined ? group : `${group} ${name}`.trim()
  return Effect.fail(
    CommandFailed.failed(
      "user_error",
      `error: unrecognized subcommand '${unknown}'\n\nFor more information, try '--help'.`
    )
  )
}

/** Who calls which relay, and how it wants its answers. */
interface Caller {
  readonly identity: Identity.Identity
  readonly httpUrl: string
  readonly format: CommandContext["format"]
  /** Whether the variable exists, even empty. */
  readonly hasAuthTag: boolean
}

const caller = Effect.fnUntraced(function* (options: CommandLine.Options, env: Env) {
  const key = options["private-key"]?.[0] ?? env["BUZZ_PRIVATE_KEY"] ?? ""
  if (key === "")
    return yield* CommandFailed.failed(
      "auth_error",
      "auth error: BUZZ_PRIVATE_KEY is required (use --private-key or set env var)"
    )
  const own = yield* Effect.mapError(Identity.parse(Redacted.make(key)), (error) =>
    CommandFailed.failed("key_error", `key error: invalid BUZZ_PRIVATE_KEY: expected ${expected(error.reason)}`)
  )
  const relay = options["relay"]?.[0] ?? env["BUZZ_RELAY_URL"] ?? "http://localhost:3000"
  const httpUrl = yield* orUserError(
    Result.mapError(RelayUrl.toHttp(relay), (error) => `invalid relay URL: expected ${error.expected}`)
  )
  const tag = options["auth-tag"]?.[0] ?? env["BUZZ_AUTH_TAG"] ?? ""
  const schnorr = yield* Schnorr
  if (tag !== "")
    yield* Effect.mapError(Effect.fromResult(OwnerAttestation.verify(schnorr, tag, own.pubkey)), (detail) =>
      CommandFailed.failed("auth_error", `auth error: invalid BUZZ_AUTH_TAG: ${detail}`)
    )
  return {
    identity: tag === "" ? own : { ...own, authTag: Redacted.make(tag) },
    httpUrl,
    format: options["format"]?.[0] === "compact" ? "compact" : "json",
    hasAuthTag: env["BUZZ_AUTH_TAG"] !== undefined
  } satisfies Caller
})

const expected = (reason: RelayReason): string => (reason._tag === "KeyInvalid" ? reason.expected : "a key")

const runAs = (command: Command, options: CommandLine.Options, caller: Caller, stdin: () => Promise<string>) =>
  Effect.gen(function* () {
    const bridge = yield* RelayBridge
    return yield* command.run(options, {
      self: caller.identity.pubkey,
      format: caller.format,
      stdin: Effect.tryPromise({
        try: stdin,
        catch: (cause) => CommandFailed.failed("user_error", `cannot read stdin: ${String(cause)}`)
      }),
      query: (...filters) =>
        Effect.mapError(bridge.query(filters), (error) => CommandFailed.ofBridge(error, caller.hasAuthTag)),
      publish: (template) =>
        Effect.mapError(bridge.publish(template), (error) => CommandFailed.ofBridge(error, caller.hasAuthTag))
    })
  }).pipe(Effect.provide(Layer.provide(RelayBridge.layerWith(caller), HttpPost.layer)))

/** Asked for anywhere, as clap has it; what stands before says of which command. */
const helpFor = (args: ReadonlyArray<string>): string | undefined => {
  if (args.includes("--version") || args.includes("-V")) return "buzz 0.1.0"
  if (!args.includes("--help") && !args.includes("-h") && args[0] !== "help") return undefined
  const words = args.filter((arg) => !arg.startsWith("-") && arg !== "help")
  return HelpText.render(GROUPS, GLOBALS, words)
}
