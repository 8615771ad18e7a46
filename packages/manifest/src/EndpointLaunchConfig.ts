/**
 * The endpoints file: how each endpoint of a manifest is reached from this machine.
 *
 * It belongs to the deployment, not to the condition, and is never hashed. API keys are named by the variable that
 * holds them; the file itself has no secrets.
 */
import { Result, Schema } from "effect"
import type { ManifestDocument } from "./DocumentNode.ts"
import {
  EndpointMissing,
  EndpointUnknown,
  type EndpointLaunchReason,
  IdentityOverridden
} from "./EndpointLaunchReason.ts"
import type { ExperimentManifest } from "./ExperimentManifest.ts"
import type { FieldPath } from "./FieldPath.ts"
import type { FieldReason } from "./FieldReason.ts"
import { fieldReasons, placeOf } from "./internal/fieldReasons.ts"
import { plainDocument } from "./internal/plainValue.ts"

const Text = Schema.String.check(Schema.isNonEmpty({ expected: "a text that is not empty" }))

/** Name of an environment variable. */
const VariableName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z_][A-Za-z0-9_]*$/u, { expected: "the name of an environment variable" })
)

/** How one endpoint is launched. `provider` is the agent program's own word for it. */
export const EndpointLaunch = Schema.Struct({
  provider: Text,
  /** The variable that holds the API key here, and under which the agent gets it. */
  api_key_env: VariableName,
  /** Further variables for every agent on this endpoint. */
  env: Schema.optionalKey(Schema.Record(VariableName, Schema.String))
})

/** How one endpoint is launched. */
export type EndpointLaunch = typeof EndpointLaunch.Type

/** The whole file, by endpoint name. Every key is an endpoint: there are no comment keys. */
export const EndpointLaunchConfig = Schema.Record(Schema.String, EndpointLaunch)

/** The whole file, by endpoint name. */
export type EndpointLaunchConfig = typeof EndpointLaunchConfig.Type

/** Variables that make an agent who it is and where it works; no endpoint may set them. */
export const IDENTITY_VARIABLES: ReadonlyArray<string> = [
  "BUZZ_RELAY_URL",
  "BUZZ_PRIVATE_KEY",
  "NOSTR_PRIVATE_KEY",
  "BUZZ_AUTH_TAG",
  "BUZZ_ACP_CHANNELS",
  "BUZZ_ACP_MCP_COMMAND",
  "BUZZ_ACP_AGENT_COMMAND",
  // With a setup payload `buzz-acp` subscribes but never works, and still looks ready.
  "BUZZ_ACP_SETUP_PAYLOAD"
]

/** The identity variables that `launch` sets, in the order of `IDENTITY_VARIABLES`; empty when it may be used. */
export const identityOverrides = (launch: EndpointLaunch): ReadonlyArray<string> =>
  IDENTITY_VARIABLES.filter((key) => launch.env !== undefined && Object.hasOwn(launch.env, key))

const decode = Schema.decodeUnknownResult(EndpointLaunchConfig, { errors: "all", onExcessProperty: "error" })

/**
 * Reads an endpoints document and refuses identity overrides. With a manifest, it must have exactly the endpoints that
 * the roster uses, so that a misspelt name fails here and not at the first call of a model.
 */
export const fromDocument = (
  document: ManifestDocument,
  manifest?: ExperimentManifest
): Result.Result<EndpointLaunchConfig, ReadonlyArray<FieldReason | EndpointLaunchReason>> => {
  const decoded = decode(plainDocument(document.root))
  if (Result.isFailure(decoded)) return Result.fail(fieldReasons(decoded.failure.issue, document, true))
  const config = decoded.success
  const place = (path: FieldPath, part?: "key") => placeOf(document, path, part)
  const overrides = Object.entries(config).flatMap(([endpoint, launch]) => {
    const keys = identityOverrides(launch)
    return keys.length === 0 ? [] : [new IdentityOverridden({ ...place([endpoint, "env"]), endpoint, keys })]
  })
  const used = manifest === undefined ? undefined : new Set(manifest.roster.map(({ endpoint }) => endpoint))
  const unknown = Object.keys(config)
    .filter((endpoint) => used !== undefined && !used.has(endpoint))
    .map((endpoint) => new EndpointUnknown({ ...place([endpoint], "key"), endpoint }))
  const missing = [...(used ?? [])]
    .filter((endpoint) => !Object.hasOwn(config, endpoint))
    .map((endpoint) => new EndpointMissing({ path: "", endpoint }))
  const reasons = [...overrides, ...unknown, ...missing]
  return reasons.length === 0 ? Result.succeed(config) : Result.fail(reasons)
}
