/**
 * `run`: one trial of a manifest on one task.
 */
import { Effect, Option, Result } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { CommandError, type UsageInvalid } from "../CommandError.ts"
import { importTrialCommand } from "../internal/importTrialCommand.ts"
import { parseInstruction, parseRelay, parseUpload, REFERENCE_STACK, type TrialRequest } from "../TrialRequest.ts"
import { environmentFlags, toEnvironment } from "./EnvironmentFlags.ts"
import { relayFlags, toRelayOptions } from "./RelayFlags.ts"
import { toTrialSettings, trialFlags } from "./TrialFlags.ts"

const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional)

/** Machine-readable output. */
export const jsonFlag = Flag.Boolean("json").pipe(
  Flag.withDescription("Print the trial's events as NDJSON instead of a live view"),
  Flag.withDefault(false)
)

/** The trial directory. */
export const outFlag = text("out", "DIR", "Directory for the bundle. Default: trials/<condition>-<time>")

const flags = {
  manifest: Argument.Path("manifest").pipe(Argument.withDescription("The condition to run, in YAML or JSON")),
  instruction: text("instruction", "TEXT", "The task, posted to the lead as it is"),
  instructionFile: text("instruction-file", "FILE", "Read the task from a file instead"),
  endpoints: Flag.String("endpoints").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("How each endpoint is reached; names the variables that hold API keys")
  ),
  ...environmentFlags,
  stack: Flag.String("stack").pipe(
    Flag.withMetavar("DIR"),
    Flag.withDescription(
      `Directory with the Buzz programs, or \`${REFERENCE_STACK}\` for the stand-ins of this project`
    ),
    Flag.withDefault(REFERENCE_STACK)
  ),
  relay: text("relay", "URL", "The relay as the agents dial it (ws:// or wss://). Default: one inside this command"),
  userRelay: text("user-relay", "URL", "The same relay as this machine dials it, when that differs"),
  ...relayFlags,
  keepChannel: Flag.Boolean("keep-channel").pipe(
    Flag.withDescription("Leave the channel open at the end, for somebody to go on in it"),
    Flag.withDefault(false)
  ),
  relayGateway: text("relay-gateway", "HOST:PORT", "Where the environment sees the relay; bridged by a forwarder"),
  artifactRoot: text("artifact-root", "DIR", "What the manifest's paths are relative to. Default: its directory"),
  out: outFlag,
  uploads: Flag.String("upload").pipe(
    Flag.withMetavar("FILE:PATH"),
    Flag.withDescription("Put a file or folder at an absolute path in the environment first; may be repeated"),
    Flag.atLeast(0)
  ),
  ownerKeyEnv: text("owner-key-env", "NAME", "Variable with the relay owner's key, to attest the trial's identities"),
  userKeyEnv: text("user-key-env", "NAME", "Variable with the key of the user who posts. Default: a fresh key"),
  ...trialFlags,
  json: jsonFlag
}

type Flags = Command.Command.Config.Infer<typeof flags>

/** The request that the flags make, or what is wrong with their combination. */
export const toRequest = (flags: Flags): Result.Result<TrialRequest, UsageInvalid> =>
  Result.gen(function* () {
    const value = Option.getOrUndefined
    return {
      command: "run",
      manifest: flags.manifest,
      instruction: yield* parseInstruction(value(flags.instruction), value(flags.instructionFile)),
      endpoints: flags.endpoints,
      artifactRoot: value(flags.artifactRoot),
      out: value(flags.out),
      stack: flags.stack,
      relay: yield* parseRelay(value(flags.relay), value(flags.userRelay), value(flags.relayGateway)),
      uploads: yield* Result.all(flags.uploads.map(parseUpload)),
      relayGateway: value(flags.relayGateway),
      ownerKeyVariable: value(flags.ownerKeyEnv),
      userKeyVariable: value(flags.userKeyEnv),
      ...(yield* toTrialSettings(flags)),
      relayOptions: yield* toRelayOptions(flags, value(flags.relay), value(flags.userRelay)),
      keepsChannel: flags.keepChannel
    }
  })

/** `buzz-orchestra run`. */
export const run = Command.make(
  "run",
  flags,
  Effect.fn("run")(function* (flags) {
    const request = yield* Effect.mapError(
      Effect.fromResult(toRequest(flags)),
      (reason) => new CommandError({ command: "run", reason })
    )
    const environment = yield* toEnvironment("run", flags)
    const { execute } = yield* importTrialCommand
    yield* execute(request, { environment, json: flags.json })
  })
).pipe(
  Command.withDescription("Run one trial of a manifest on one task and leave a bundle"),
  Command.withExamples([
    {
      command:
        'buzz-orchestra run team.yaml --endpoints endpoints.json --stack ./buzz-linux --instruction "Fix the tests"',
      description: "One task, the real stack, a relay inside this command"
    },
    {
      command:
        "buzz-orchestra run team.yaml --endpoints endpoints.json --stack ./buzz-linux --instruction-file task.md --upload repo:/app --download /app:result",
      description: "The task from a file, with a folder to work on, which is there again when it is over"
    },
    {
      command:
        "buzz-orchestra run team.yaml --endpoints endpoints.json --stack ./buzz-linux --instruction-file task.md --fixture fixture.yaml --evidence-for fix-the-report",
      description: "A task with people of its own, graded by what is said"
    },
    {
      command:
        "buzz-orchestra run team.yaml --endpoints endpoints.json --stack ./buzz-linux --instruction-file task.md --environment docker --dockerfile task --memory 4096 --cpus 2",
      description: "In a container of the task's own image, within limits"
    },
    {
      command:
        "buzz-orchestra run team.yaml --endpoints endpoints.json --stack ./buzz-linux --instruction-file task.md --relay ws://localhost:3600 --owner-key-env RELAY_OWNER_KEY",
      description: "On a relay that runs already and admits only attested keys"
    },
    {
      command:
        "buzz-orchestra run team.yaml --endpoints endpoints.json --stack ./buzz-linux --instruction-file task.md --relay ws://team.example:3600 --relay-dial ws://127.0.0.1:3600",
      description: "On a relay that chooses its tenant by name, reached through a tunnel"
    }
  ])
)
