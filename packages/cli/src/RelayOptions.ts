/**
 * How this machine speaks with a relay that runs already, as flags say it: where it is dialled, whose certificates count, and
 * through which client. Pure.
 */
import { Result, Schema } from "effect"
import { UsageInvalid } from "./CommandError.ts"

/** All of it is optional; a relay inside this command needs nothing of it. */
export const RelayOptions = Schema.Struct({
  /** Where the connection goes although the relay has another name. */
  dialUrl: Schema.optionalKey(Schema.String),
  /** A file of certificates (PEM) that count beside the system's. */
  caFile: Schema.optionalKey(Schema.String),
  /** Path or name of the `buzz` program through which everything is said and read. */
  program: Schema.optionalKey(Schema.String)
})
/** All of it is optional; a relay inside this command needs nothing of it. */
export type RelayOptions = typeof RelayOptions.Type

/** The program's name where no path is given. */
const BUZZ = "buzz"

/** The options that the flags make, or what is wrong with their combination. */
export const parseRelayOptions = (flags: {
  readonly relay: string | undefined
  readonly userRelay: string | undefined
  readonly dial: string | undefined
  readonly ca: string | undefined
  readonly client: "native" | "cli"
  readonly buzz: string | undefined
}): Result.Result<RelayOptions, UsageInvalid> => {
  const { buzz, ca, client, dial, relay, userRelay } = flags
  if (buzz !== undefined && client !== "cli") {
    return refuse("--buzz is given without --client cli", "add --client cli, or leave --buzz out")
  }
  if (relay === undefined && (dial ?? ca) !== undefined) {
    const flag = dial === undefined ? "--relay-ca" : "--relay-dial"
    return refuse(`${flag} is given without --relay`, "give the relay by its own name with --relay")
  }
  if (dial !== undefined && userRelay !== undefined) {
    return refuse(
      "--relay-dial and --user-relay are given together",
      "give --relay-dial when the relay must be called by its own name, --user-relay when it has another here"
    )
  }
  if (client === "cli" && (dial ?? ca) !== undefined) {
    return refuse(
      `--client cli is given with ${dial === undefined ? "--relay-ca" : "--relay-dial"}`,
      "leave it out: the buzz program dials by itself, and reads SSL_CERT_FILE"
    )
  }
  return Result.succeed({
    ...(dial === undefined ? {} : { dialUrl: dial }),
    ...(ca === undefined ? {} : { caFile: ca }),
    ...(client === "cli" ? { program: buzz ?? BUZZ } : {})
  })
}

const refuse = (detail: string, instead: string) => Result.fail(new UsageInvalid({ detail, instead }))
