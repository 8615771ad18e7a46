/**
 * What can go wrong before a trial starts: with files, variables and addresses that a person named on the command line.
 */
import { Schema } from "effect"

/** Flags that do not fit together, or a value that a flag does not take. */
export class UsageInvalid extends Schema.TaggedError<UsageInvalid>()("UsageInvalid", {
  detail: Schema.String,
  /** What to type instead. */
  instead: Schema.String
}) {}

/** The instruction file cannot be read as text. */
export class InstructionUnreadable extends Schema.TaggedError<InstructionUnreadable>()("InstructionUnreadable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {}

/** Environment variables that the endpoints file names for API keys, and that are unset or empty. */
export class ApiKeyVariablesMissing extends Schema.TaggedError<ApiKeyVariablesMissing>()("ApiKeyVariablesMissing", {
  endpointsFile: Schema.String,
  missing: Schema.NonEmptyArray(Schema.Struct({ endpoint: Schema.String, variable: Schema.String }))
}) {}

/** A variable that a flag names for a secret is unset or empty. */
export class SecretVariableMissing extends Schema.TaggedError<SecretVariableMissing>()("SecretVariableMissing", {
  flag: Schema.String,
  variable: Schema.String
}) {}

/** A variable that a flag names for a key holds something else. Never carries the value. */
export class SecretVariableInvalid extends Schema.TaggedError<SecretVariableInvalid>()("SecretVariableInvalid", {
  flag: Schema.String,
  variable: Schema.String,
  expected: Schema.String
}) {}

/** The trial directory has files already; a bundle is never written over another. */
export class DirectoryNotEmpty extends Schema.TaggedError<DirectoryNotEmpty>()("DirectoryNotEmpty", {
  directory: Schema.String
}) {}

/** A file or folder to upload is not there. */
export class UploadMissing extends Schema.TaggedError<UploadMissing>()("UploadMissing", {
  source: Schema.String
}) {}

/** The stack directory is not there. */
export class StackDirectoryMissing extends Schema.TaggedError<StackDirectoryMissing>()("StackDirectoryMissing", {
  directory: Schema.String
}) {}

/** The reference stack is not installed, or its programs could not be built; `detail` is what was said. */
export class ReferenceStackUnavailable extends Schema.TaggedError<ReferenceStackUnavailable>()(
  "ReferenceStackUnavailable",
  { detail: Schema.String }
) {}

/** The files of the demo are not where this installation should have them. */
export class ExampleMissing extends Schema.TaggedError<ExampleMissing>()("ExampleMissing", {
  directory: Schema.String
}) {}

/** The embedded relay cannot listen on the address. */
export class RelayNotServed extends Schema.TaggedError<RelayNotServed>()("RelayNotServed", {
  host: Schema.String,
  port: Schema.Int,
  detail: Schema.String
}) {}

/** The file of `--relay-ca` cannot be read, or holds no certificate. */
export class RelayCertificatesUnreadable extends Schema.TaggedError<RelayCertificatesUnreadable>()(
  "RelayCertificatesUnreadable",
  { file: Schema.String, detail: Schema.String }
) {}

/** The directory in which the embedded relay is to keep its data cannot be used. */
export class RelayDataUnusable extends Schema.TaggedError<RelayDataUnusable>()("RelayDataUnusable", {
  directory: Schema.String,
  detail: Schema.String
}) {}

/** The container engine that is to be used cannot be: its address makes no sense, nobody answers there, or it refuses. */
export class EngineUnavailable extends Schema.TaggedError<EngineUnavailable>()("EngineUnavailable", {
  /** A sentence that names the address. */
  detail: Schema.String
}) {}

/** No way leads from the environment that was made to the relay inside this command. */
export class RelayNotReached extends Schema.TaggedError<RelayNotReached>()("RelayNotReached", {
  /** As they dial it. */
  relayUrl: Schema.String,
  environment: Schema.String,
  detail: Schema.String
}) {}

/** Neither a local sandbox nor a container can be had on this machine. */
export class NoEnvironmentWorks extends Schema.TaggedError<NoEnvironmentWorks>()("NoEnvironmentWorks", {}) {}

/** What a killed harness left could not be removed, all of it. */
export class LeftoversRemain extends Schema.TaggedError<LeftoversRemain>()("LeftoversRemain", {
  /** How many are still there. */
  count: Schema.Int,
  /** One of them, such as `process 4242`. */
  first: Schema.String,
  /** Why that one is still there. */
  detail: Schema.String
}) {}

/** The directory holds no bundle of a trial, or not enough of one for what was asked. */
export class BundleNotReadable extends Schema.TaggedError<BundleNotReadable>()("BundleNotReadable", {
  directory: Schema.String,
  detail: Schema.String
}) {}

/** A bundle is not as it should be: a digest, a document or a sum is wrong. */
export class BundleNotVerified extends Schema.TaggedError<BundleNotVerified>()("BundleNotVerified", {
  directory: Schema.String,
  /** How many problems there are. */
  count: Schema.Int,
  /** The first of them, with its file. */
  first: Schema.String
}) {}

/** A secret stands in a file of a bundle: it must not be published. */
export class SecretsInBundle extends Schema.TaggedError<SecretsInBundle>()("SecretsInBundle", {
  directory: Schema.String,
  /** Where, such as `agent/buzz/lead-1.stdout.log:12 (openai-key)`. */
  places: Schema.NonEmptyArray(Schema.String)
}) {}

/** The page that was asked for cannot be written. */
export class PageNotWritten extends Schema.TaggedError<PageNotWritten>()("PageNotWritten", {
  file: Schema.String,
  detail: Schema.String
}) {}

/** Every reason a `CommandError` can have. */
export const CommandReason = Schema.Union([
  UsageInvalid,
  InstructionUnreadable,
  ApiKeyVariablesMissing,
  SecretVariableMissing,
  SecretVariableInvalid,
  DirectoryNotEmpty,
  UploadMissing,
  StackDirectoryMissing,
  ReferenceStackUnavailable,
  ExampleMissing,
  RelayNotServed,
  RelayDataUnusable,
  RelayCertificatesUnreadable,
  EngineUnavailable,
  RelayNotReached,
  NoEnvironmentWorks,
  LeftoversRemain,
  BundleNotReadable,
  BundleNotVerified,
  SecretsInBundle,
  PageNotWritten
])

/** Every reason a `CommandError` can have. */
export type CommandReason = typeof CommandReason.Type

/** A command could not do what it was asked; nothing was started. */
export class CommandError extends Schema.TaggedError<CommandError>()("CommandError", {
  /** As typed, such as `run`. */
  command: Schema.String,
  reason: CommandReason
}) {}
