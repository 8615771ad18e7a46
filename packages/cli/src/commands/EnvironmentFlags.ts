/**
 * The flags of `run` and `demo` that say where a trial runs.
 */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { CommandError } from "../CommandError.ts"
import { ENVIRONMENTS } from "../EnvironmentName.ts"
import { parseEnvironment, type RequestedSource } from "../EnvironmentRequest.ts"

const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional)

const above0 = (value: number) => value > 0
const megabytes = (name: string, description: string) =>
  Flag.Int(name).pipe(
    Flag.filter(above0, (value) => `Expected a number of MiB above 0, got ${value}`),
    Flag.withMetavar("MB"),
    Flag.withDescription(description),
    Flag.optional
  )

/** To be spread among the flags of a command. */
export const environmentFlags = {
  environment: Flag.Literals("environment", ENVIRONMENTS).pipe(
    Flag.withDescription(
      "Where the stack runs: `local` is a private sandbox on this Linux machine, `docker` a container of Docker or Podman, `plain` this machine with nothing in between: agents may then do whatever you may"
    ),
    Flag.withDefault("local" as const)
  ),
  image: text("image", "REF", "Make the container from an image that the engine has; nothing is pulled"),
  dockerfile: text(
    "dockerfile",
    "DIR",
    "Make it from the image of a directory with a Dockerfile, built once per content"
  ),
  container: text("container", "ID", "Use a container that runs already; it is neither stopped nor removed"),
  memory: megabytes("memory", "Limit the container's memory, in MiB. Default: what the manifest says"),
  cpus: Flag.Finite("cpus").pipe(
    Flag.filter(above0, (value) => `Expected a number of cores above 0, got ${value}`),
    Flag.withMetavar("N"),
    Flag.withDescription("Limit the container's cores; 0.5 is half of one. Default: what the manifest says"),
    Flag.optional
  ),
  storage: megabytes(
    "storage",
    "Limit what it may write, in MiB, where the engine can. Default: what the manifest says"
  ),
  pids: Flag.Int("pids").pipe(
    Flag.filter(above0, (value) => `Expected a number of processes above 0, got ${value}`),
    Flag.withMetavar("N"),
    Flag.withDescription("Limit the container's processes and threads. Default: the engine's own limit"),
    Flag.optional
  ),
  user: text(
    "user",
    "USER",
    "Run everything of the trial as this user of the container: a name, UID or UID:GID. Default: the image's"
  ),
  network: text("network", "NAME", "The container's network: public (default), none, host, or one that exists")
}

type Flags = Command.Command.Config.Infer<typeof environmentFlags>

/** The environment that the flags ask for; `fallback` as in `parseEnvironment`. `command` is the command as typed. */
export const toEnvironment = (command: string, flags: Flags, fallback?: RequestedSource) =>
  Effect.fromResult(
    parseEnvironment(
      {
        environment: flags.environment,
        image: Option.getOrUndefined(flags.image),
        dockerfile: Option.getOrUndefined(flags.dockerfile),
        container: Option.getOrUndefined(flags.container),
        memory: Option.getOrUndefined(flags.memory),
        cpus: Option.getOrUndefined(flags.cpus),
        storage: Option.getOrUndefined(flags.storage),
        pids: Option.getOrUndefined(flags.pids),
        network: Option.getOrUndefined(flags.network),
        user: Option.getOrUndefined(flags.user)
      },
      fallback
    )
  ).pipe(Effect.mapError((reason) => new CommandError({ command, reason })))
