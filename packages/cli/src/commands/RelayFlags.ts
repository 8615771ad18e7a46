/**
 * The flags of `run` and `watch` that say how this machine speaks with a relay that runs already.
 */
import { Option, type Result } from "effect"
import { type Command, Flag } from "effect/cli"
import type { UsageInvalid } from "../CommandError.ts"
import { parseRelayOptions, type RelayOptions } from "../RelayOptions.ts"

const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional)

/** To be spread among the flags of a command. */
export const relayFlags = {
  relayDial: text("relay-dial", "URL", "Dial the relay there, and still call it by its own name (Host, signatures)"),
  relayCa: text("relay-ca", "FILE", "Certificates (PEM) that count for the relay beside the system's"),
  client: Flag.Literals("client", ["native", "cli"]).pipe(
    Flag.withDescription("Speak with the relay directly, or only through the `buzz` program"),
    Flag.withDefault("native" as const)
  ),
  buzz: text("buzz", "PATH", "The `buzz` program of --client cli. Default: the one on the PATH")
}

type Flags = Command.Command.Config.Infer<typeof relayFlags>

/** The options that the flags make, beside the relay they are about. */
export const toRelayOptions = (
  flags: Flags,
  relay: string | undefined,
  userRelay?: string | undefined
): Result.Result<RelayOptions, UsageInvalid> =>
  parseRelayOptions({
    relay,
    userRelay,
    dial: Option.getOrUndefined(flags.relayDial),
    ca: Option.getOrUndefined(flags.relayCa),
    client: flags.client,
    buzz: Option.getOrUndefined(flags.buzz)
  })
