/**
 * The exit code of every outcome and every reason. Complete by type: a new outcome or reason anywhere fails the
 * type-check until it has a code here. Codes are never reused for something else; scripts depend on them.
 */
import type { ManifestReason } from "@buzz-orchestra/manifest/ManifestError"
import type { ProvisioningReason } from "@buzz-orchestra/relay/ProvisioningError"
import type { RelayReason } from "@buzz-orchestra/relay/RelayError"
import type { RuntimeLaunchReason } from "@buzz-orchestra/runtime/RuntimeLaunchError"
import type { Outcome } from "@buzz-orchestra/runtime/TrialEvent"
import type { CommandReason } from "./CommandError.ts"

/** Every reason that the command can end with. */
export type Reason = CommandReason | ManifestReason | ProvisioningReason | RelayReason | RuntimeLaunchReason

/** The command line was not understood (sysexits' EX_USAGE). */
export const USAGE = 64

/** A defect of this program (sysexits' EX_SOFTWARE). */
export const BUG = 70

/** A trial that reached an outcome. `interrupted` by a signal exits with the signal's code instead. */
export const OUTCOME_CODES = {
  done: 0,
  "stopped-without-done": 10,
  quiescent: 11,
  "timed-out": 12,
  "over-budget": 13,
  interrupted: 14
} as const satisfies Record<Outcome, number>

/** What a person named on the command line. */
const COMMAND_CODES = {
  UsageInvalid: USAGE,
  InstructionUnreadable: 2,
  ApiKeyVariablesMissing: 3,
  SecretVariableMissing: 4,
  SecretVariableInvalid: 5,
  DirectoryNotEmpty: 6,
  UploadMissing: 7,
  StackDirectoryMissing: 8,
  ReferenceStackUnavailable: 9,
  ExampleMissing: 16,
  RelayNotServed: 17,
  RelayCertificatesUnreadable: 68,
  EngineUnavailable: 18,
  RelayNotReached: 19,
  NoEnvironmentWorks: 15,
  LeftoversRemain: 61,
  RelayDataUnusable: 69,
  BundleNotReadable: 125,
  BundleNotVerified: 122,
  SecretsInBundle: 123,
  PageNotWritten: 124
} as const satisfies Record<CommandReason["_tag"], number>

/** The environment and everything launched in it. */
const LAUNCH_CODES = {
  EnvironmentLost: 20,
  EnvironmentNotCreated: 21,
  CommandNotRun: 22,
  TransferFailed: 23,
  ConfigurationOutOfBounds: 24,
  CredentialWithoutClass: 25,
  RoleMismatch: 26,
  CredentialsIncomplete: 27,
  PromptUnreadable: 28,
  PromptDigestMismatch: 29,
  EndpointEmpty: 30,
  EndpointNotConfigured: 31,
  EndpointOverridesIdentity: 32,
  RelayUrlUnusable: 33,
  TaskTooLong: 34,
  TaskFileMissing: 35,
  TrialDirectoryUnwritable: 36,
  BinaryMissing: 37,
  CaBundleMissing: 38,
  LayoutNotWritable: 39,
  UploadNotThere: 40,
  DigestDiffers: 41,
  ShellMissing: 42,
  BashMissing: 43,
  ArchitectureMismatch: 44,
  ForwarderNotLaunched: 45,
  ForwarderNotReady: 46,
  ForwarderPortBusy: 47,
  ForwarderDied: 48,
  AgentNotLaunched: 49,
  AgentsNotReady: 50,
  SubscriptionFailed: 51,
  AgentsDied: 52,
  TaskNotAccepted: 53,
  TaskMentionMissing: 54,
  RelayLost: 55,
  ObservationRefused: 56,
  OutputProbeFailed: 57,
  EvidenceNotExported: 58,
  BinaryNotExecutable: 59,
  EnvironmentBusy: 60,
  RelayNotAnswering: 62,
  AgentsNotSeparated: 63
} as const satisfies Record<RuntimeLaunchReason["_tag"], number>

/** The relay and what is provisioned on it. */
const RELAY_CODES = {
  RelayUnreachable: 71,
  RelayRateLimited: 72,
  RelayAuthRefused: 73,
  RelayRefused: 74,
  RelayReplyMalformed: 75,
  RelayUrlInvalid: 76,
  MessageTooLong: 77,
  MentionNotStored: 78,
  KeyInvalid: 79,
  TrialConflict: 80,
  ApiKeyMissing: 81,
  RelayStepFailed: 82,
  BuzzProgramFailed: 83,
  MentionsUnsupported: 65,
  ClockSkewed: 66,
  HandleStoreFailed: 67
} as const satisfies Record<RelayReason["_tag"] | ProvisioningReason["_tag"], number>

/** The manifest, what it pins, and the endpoints file. */
const MANIFEST_CODES = {
  ManifestUnreadable: 84,
  DocumentTooLarge: 85,
  TextNotUnicode: 86,
  CharacterRefused: 87,
  YamlSyntaxInvalid: 88,
  SeveralDocuments: 89,
  RootNotMapping: 90,
  DuplicateKey: 91,
  KeyNotText: 92,
  NumberNotFinite: 93,
  TagRefused: 94,
  ScalarInvalid: 95,
  MergeRefused: 96,
  NestingTooDeep: 97,
  ExpansionTooLarge: 98,
  ValueNotDocument: 99,
  FieldUnknown: 100,
  FieldMissing: 101,
  FieldInvalid: 102,
  DialectsMixed: 103,
  ClassIdRepeated: 104,
  OrchestratorNotSingle: 105,
  PriceMissing: 106,
  ConcurrencyAboveCount: 107,
  OutputFillsWindow: 108,
  CompactionNeverFires: 109,
  GooseModeInvalid: 110,
  ArtifactUnreadable: 111,
  ArtifactMismatch: 112,
  AgentIdMalformed: 113,
  AgentClassUnknown: 114,
  AgentKindMismatch: 115,
  AgentRepeated: 116,
  AgentsMissing: 117,
  AgentsUnexpected: 118,
  IdentityOverridden: 119,
  EndpointUnknown: 120,
  EndpointMissing: 121
} as const satisfies Record<ManifestReason["_tag"], number>

/** By tag of the reason. */
export const REASON_CODES: Readonly<Record<Reason["_tag"], number>> = {
  ...COMMAND_CODES,
  ...LAUNCH_CODES,
  ...RELAY_CODES,
  ...MANIFEST_CODES
}

/** Signals that stop a command in order. */
export const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15, SIGPIPE: 13 } as const

/** A signal that stops a command in order. */
export type StopSignal = keyof typeof SIGNALS

/** As a shell reports a process that a signal ended: 128 + its number. */
export const ofSignal = (signal: StopSignal): number => 128 + SIGNALS[signal]
