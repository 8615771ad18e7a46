/**
 * When each outcome is reached and each reason is met: the sentences of `docs/errors.md`. Complete by type, as exit codes and
 * renderings are: a new outcome, or a new reason in any package, fails the type-check until it has its line here.
 */
import type { Reason } from "../packages/cli/src/ExitCode.ts"
import type { Outcome } from "../packages/runtime/src/TrialEvent.ts"

/** When an outcome is reached, and what to do next. */
export const OUTCOME_LINES: Readonly<Record<Outcome, { readonly when: string; readonly next: string }>> = {
  done: {
    when: "The orchestrator posted a message that starts with `DONE:` after it had seen the task.",
    next: "`buzz-orchestra show` the bundle"
  },
  "stopped-without-done": {
    when: "The only agent of the team ended its last turn and said nothing more.",
    next: "`buzz-orchestra show` the bundle; lone agents often leave the result in files only"
  },
  quiescent: {
    when: "Every agent is idle, no mention is undelivered, and the orchestrator has not posted `DONE:`: nobody can wake any more.",
    next: "read in `agent/buzz/transcript.json` who forgot to mention whom"
  },
  "timed-out": {
    when: "The time of the trial was over; it runs from the moment when the task was posted.",
    next: "read in `agent/buzz/summary.json` who was still working; the limit is `trial_budget.timeout_seconds` of the manifest"
  },
  "over-budget": {
    when: "An agent, or the team, reported as many tokens as its budget has, or tokens that cost as much.",
    next: "read in `agent/buzz/summary.json` who used how much; the limits are `budget` of each class and `trial_budget.max_cost_usd`"
  },
  interrupted: {
    when: "Somebody stopped the trial before it had another outcome.",
    next: "`buzz-orchestra show` the bundle; it is complete as far as the trial came"
  }
}

/** When a reason is met. */
export const REASON_LINES: Readonly<Record<Reason["_tag"], string>> = {
  UsageInvalid: "Flags contradict each other, or one has a value it does not take.",
  InstructionUnreadable: "The file of `--instruction-file` is not there or cannot be read.",
  ApiKeyVariablesMissing:
    "Variables that the endpoints file names in `api_key_env` are unset or empty; all are listed.",
  SecretVariableMissing: "The variable that `--owner-key-env` or `--user-key-env` names is unset or empty.",
  SecretVariableInvalid: "That variable holds something that is no key.",
  DirectoryNotEmpty: "The directory of `--out` has files in it.",
  UploadMissing: "The file or folder before the colon of `--upload` is not there.",
  StackDirectoryMissing: "The directory of `--stack` is not there.",
  ReferenceStackUnavailable: "The reference stack is not installed, or building its programs failed.",
  ExampleMissing: "The installation lacks the files of the demo.",
  RelayNotServed: "The embedded relay cannot listen, most often because its port is taken.",
  RelayCertificatesUnreadable: "The file of `--relay-ca` is not there, cannot be read, or holds no certificate.",
  RelayDataUnusable: "The directory of `--data` cannot be written, another relay uses it, or it holds something else.",
  EngineUnavailable:
    "A container is asked for, and no engine answers where `DOCKER_HOST` or the docker context says, or it refuses.",
  RelayNotReached: "A container was made, and no way leads from it to the relay inside the command.",
  NoEnvironmentWorks: "`doctor` tried a local sandbox and a container, and neither can be had.",
  LeftoversRemain:
    "`reap` could not remove all that a killed harness left: it may not, or the kernel or the engine did not.",
  BundleNotReadable:
    "The directory given to `show` or `bundle` holds no bundle, or a killed harness left too little of one.",
  BundleNotVerified: "`bundle verify` found a document, a digest or a sum that is not as it should be.",
  SecretsInBundle: "The last look at a trial's files, or `bundle verify`, found a secret in one.",
  PageNotWritten: "The file of `show --html` cannot be written.",

  EnvironmentLost: "The container stopped or was removed, memory or disk ran out, or the sandbox died.",
  EnvironmentNotCreated: "The sandbox or container cannot be had: a program, a right, an image or a mount is missing.",
  ShellMissing: "The first command in a new environment could not be run, because there is no `sh`.",
  CommandNotRun: "A command could not be run at all; one that ends with an exit code is no error.",
  TransferFailed: "A file or folder did not get in or out: no space, no right, not there, or it changed on the way.",

  ConfigurationOutOfBounds:
    "A setting of the trial, or a variable composed for an agent, has a value that means nothing.",
  CredentialWithoutClass: "What was provisioned has an agent whose id fits no class of the roster.",
  RoleMismatch: "What was provisioned has an agent of another kind than its class.",
  CredentialsIncomplete: "What was provisioned lacks an agent of the roster, or has one twice, or one too many.",
  PromptUnreadable: "A prompt that the manifest pins is not there or cannot be read.",
  PromptDigestMismatch: "A prompt has other bytes than the manifest pins.",
  EndpointEmpty: "A class of the roster has an empty endpoint.",
  EndpointNotConfigured: "The endpoints file has no entry for the endpoint of an agent.",
  EndpointOverridesIdentity: "An endpoint sets a variable that makes up an agent's identity or wiring.",
  RelayUrlUnusable: "The relay's URL has a scheme that agents, the user or the forwarder cannot dial.",
  TaskTooLong: "The instruction, with the mention in front of it, does not fit one message.",
  TaskFileMissing: "A file or folder that the task brings is not there.",
  TrialDirectoryUnwritable: "The trial directory cannot be made or written.",
  EnvironmentBusy: "A program runs a second trial in an environment in which another one has not ended yet.",

  BinaryMissing: "Programs of the stack are not where the stack directory should have them; all are listed.",
  BinaryNotExecutable: "A required program is in the stack directory and has no right to be executed.",
  CaBundleMissing: "The file with root certificates for the agents cannot be read.",
  LayoutNotWritable: "Neither `/opt/buzz` nor the home directory in the environment can be written.",
  UploadNotThere: "An upload was reported as done and the file is not there, as below a tmpfs mount.",
  DigestDiffers: "A program has other bytes in the environment than here.",
  BashMissing: "The environment has no bash, which the agents' shell tool needs.",
  ArchitectureMismatch: "A program was built for another processor than the environment has.",

  ForwarderNotLaunched: "The relay forwarder could not be started at all.",
  ForwarderNotReady: "The relay forwarder runs and did not say in time that it forwards.",
  ForwarderPortBusy:
    "Something else listens where the forwarder, or the bridge, must; who it is stands there where it can be seen.",
  ForwarderDied: "The relay forwarder ended while the agents needed it.",
  RelayNotAnswering:
    "The relay did not answer a WebSocket handshake from inside the environment, asked before any agent was started.",

  AgentsNotSeparated:
    "`--agent-users own` asks for a user per agent, and the environment's user is not root or nothing there becomes another.",
  AgentNotLaunched: "An agent's process did not start: no pid, too many variables, or a program that cannot run there.",
  AgentsNotReady: "Agents run and did not subscribe to the channel in time; each one's last words are listed.",
  SubscriptionFailed: "An agent said that it will not hear the channel, so waiting for it is pointless.",
  AgentsDied: "Agents ended by themselves; how each of them ended, and its last words, are listed.",

  TaskNotAccepted: "The relay did not take the task, or did not let its channel be observed.",
  TaskMentionMissing: "The relay stored the task without the mention that wakes the orchestrator.",
  RelayLost: "The relay was out of reach, or did not let the channel be read, until the time of the trial was over.",
  ObservationRefused:
    "The relay ended the observation by its rules, for instance because the user is no member any more.",
  OutputProbeFailed: "The team finished, and the output that the condition asks for is missing or different.",
  EvidenceNotExported: "The task's verifier grades what happened on the relay, and the evidence did not get to it.",

  RelayUnreachable: "No connection, or one that broke, through every attempt.",
  RelayRateLimited: "The relay asked to slow down, through every attempt.",
  RelayAuthRefused: "The relay does not accept the identity: not a member, or not attested.",
  RelayRefused: "The relay understood and said no, by one of its rules.",
  RelayReplyMalformed: "What answered does not speak the protocol, like a proxy in front of the relay.",
  RelayUrlInvalid: "The URL has another scheme than its use allows.",
  MessageTooLong: "A message is over the limit; found before anything is sent.",
  MentionNotStored: "The relay stored a message without a mention that was asked for.",
  BuzzProgramFailed:
    "The `buzz` program of `--client cli` cannot be run, is killed after its time, or ends in no way it documents.",
  MentionsUnsupported: "The `buzz` program of `--client cli` is of a build without `messages send --mention`.",
  ClockSkewed: "The clocks of this machine and of the relay differ by more than the relay tolerates in a signature.",
  KeyInvalid: "A text that should be a key is none.",

  HandleStoreFailed: "A trial's saved handle cannot be written, read or decrypted, or lies where others can read it.",
  TrialConflict: "The same run has a trial of that id, with another manifest.",
  ApiKeyMissing: "No API key was given for an endpoint of the roster, not even none on purpose.",
  RelayStepFailed: "One step of the provisioning failed on the relay; the reason of the relay is inside.",

  ManifestUnreadable: "The manifest is not there or cannot be read.",
  DocumentTooLarge: "The file is larger than a manifest may be.",
  TextNotUnicode: "The bytes, or an escape, make no Unicode text.",
  CharacterRefused: "A character stands there that YAML 1.1 does not allow, or takes for an invisible line break.",
  YamlSyntaxInvalid: "The text is no YAML.",
  SeveralDocuments: "The file holds more than one document.",
  RootNotMapping: "The document is a list or a single value.",
  DuplicateKey: "A key stands twice in one mapping.",
  KeyNotText: "A key is a number, a boolean, null or a collection.",
  NumberNotFinite: "A number is infinite or none, such as `.nan`.",
  TagRefused: "A tag, or a plain `=` or `<<`, stands where it means nothing.",
  ScalarInvalid: "A value is not what its form or tag says, such as `2026-02-30`.",
  MergeRefused: "What follows `<<` cannot be merged.",
  NestingTooDeep: "Collections are nested beyond the limit, or a value contains itself.",
  ExpansionTooLarge: "With every alias written out the document would be huge.",
  ValueNotDocument: "A program handed over a value that no document can hold.",
  FieldUnknown: "A field is not known, or not to the dialect the manifest is read as.",
  FieldMissing: "A field without a default is absent.",
  FieldInvalid: "A field has a value it does not take; nothing is converted.",
  DialectsMixed: "The manifest has something that only trunk has and something that only study has.",
  ClassIdRepeated: "Two classes of the roster have one id.",
  OrchestratorNotSingle: "The roster has no orchestrator, or more than one.",
  PriceMissing: "An endpoint of the roster has no price.",
  ConcurrencyAboveCount: "A class may work on more at once than it has agents.",
  OutputFillsWindow:
    "The output reserved for a model leaves nothing of its context window (study; a warning in trunk).",
  CompactionNeverFires: "A compaction target lies beyond what the window allows (study; a warning in trunk).",
  GooseModeInvalid: "`goose_system_prompt_mode` is neither `append` nor `set` (study; a warning in trunk).",
  ArtifactUnreadable: "A pinned file is not there or cannot be read.",
  ArtifactMismatch: "A pinned file has other bytes than the manifest says.",
  AgentIdMalformed: "A credential's agent id does not end in a number.",
  AgentClassUnknown: "A credential's agent id belongs to no class.",
  AgentKindMismatch: "A credential is of another kind than its class.",
  AgentRepeated: "An agent has two credentials.",
  AgentsMissing: "Agents of the roster have no credential.",
  AgentsUnexpected: "There are credentials for agents that the roster does not have.",
  IdentityOverridden: "An endpoint's `env` sets a variable that makes up an agent's identity.",
  EndpointUnknown: "The endpoints file has an entry that no class of the manifest uses.",
  EndpointMissing: "The endpoints file lacks an entry for an endpoint of the manifest."
}
