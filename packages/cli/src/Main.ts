/**
 * What is wired to what: the command tree, the services it runs on, and how errors, bugs and signals become an exit code.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import { Cause, Config, Console, Effect, Layer } from "effect"
import { CliConfig, CliError, Command, GlobalFlag } from "effect/cli"
import { bundle } from "./commands/Bundle.ts"
import { demo } from "./commands/Demo.ts"
import { doctor } from "./commands/Doctor.ts"
import { manifest } from "./commands/Manifest.ts"
import { reap } from "./commands/Reap.ts"
import { relay } from "./commands/Relay.ts"
import { run } from "./commands/Run.ts"
import { show } from "./commands/Show.ts"
import { watch } from "./commands/Watch.ts"
import { BUG, USAGE } from "./ExitCode.ts"
import * as Failure from "./Failure.ts"
import { fromScript, Invocation } from "./Invocation.ts"
import * as LogLines from "./LogLines.ts"
import { Output } from "./Output.ts"
import * as OutputNode from "./OutputNode.ts"
import * as Presenter from "./Presenter.ts"
import { ExitWith, runMain, Stopping, StoppingRef } from "./Stopping.ts"
import { PLAIN } from "./Style.ts"
import * as TracingSetup from "./TracingSetup.ts"

/** Every command, without the services that it runs on. */
export const tree = Command.make("buzz-orchestra").pipe(
  Command.withDescription("Launch Buzz agent teams, watch them work, keep the proof"),
  Command.withExamples([
    { command: "buzz-orchestra demo", description: "Watch a team of three solve a small task, offline" },
    { command: "buzz-orchestra run --help", description: "How to run a team of your own" }
  ]),
  Command.withSubcommands([run, demo, show, bundle, watch, doctor, reap, manifest, relay])
)

/** The command with these arguments. Everything a person should read has been printed when it ends. */
export const command = (version: string, args: ReadonlyArray<string>) =>
  Command.runWith(tree, { version })(args).pipe(
    Effect.catchCause(
      Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
        if (Cause.hasInterruptsOnly(cause)) return yield* Effect.interrupt
        return yield* new ExitWith({ code: yield* report(cause) })
      })
    ),
    Effect.provide(
      Layer.mergeAll(
        Presenter.layer,
        CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })
      )
    )
  )

/** Prints what is not printed yet and returns the exit code. */
const report = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
  const error = Cause.squash(cause)
  if (error instanceof ExitWith) return error.code
  if (CliError.isCliError(error)) return error._tag === "ShowHelp" && error.errors.length === 0 ? 0 : USAGE
  if (Failure.isKnown(error)) {
    const failure = Failure.fromError(error)
    yield* Console.error(Failure.lines(failure, PLAIN).join("\n"))
    return failure.exitCode
  }
  yield* Console.error(`This is a bug in buzz-orchestra. Please report it with the text below.\n${Cause.pretty(cause)}`)
  return BUG
})

/** Everything the commands need that does not depend on their flags, except the process's own output. */
export const services = ManifestService.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(NodeServices.layer, SchnorrWasm.layer))
)

const invocation = Layer.sync(Invocation, () => fromScript(process.argv[1], process.cwd()))

/** Runs the command line as the process. */
export const main = (version: string): void => {
  const stopping = new Stopping()
  const program = command(version, process.argv.slice(2)).pipe(
    Effect.provide(TracingSetup.layer(version)),
    Effect.ensuring(Output.use(({ flush }) => flush)),
    Effect.provide(
      // The log is the outermost: a service may have something to say while it is built.
      Layer.mergeAll(services, Layer.succeed(StoppingRef, stopping), invocation).pipe(
        Layer.provideMerge(LogLines.layer()),
        Layer.provideMerge(OutputNode.layerWith(() => stopping.request("SIGPIPE")))
      )
    ),
    // All variables are optional texts; no value of theirs is invalid.
    Effect.catchIf((error): error is Config.ConfigError => !(error instanceof ExitWith), Effect.die)
  )
  runMain(program, stopping)
}
