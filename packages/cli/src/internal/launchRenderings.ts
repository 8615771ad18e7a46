import { BUNDLE, TRANSCRIPT } from "@buzz-orchestra/runtime/BundleFiles"
import type { RuntimeLaunchReason } from "@buzz-orchestra/runtime/RuntimeLaunchError"
import type { Rendered, Renderings } from "./rendering.ts"

const CHECK_ROSTER = "the agents of a trial are those of the manifest's roster, numbered from 1"
const CORRECT_ENDPOINTS = "correct the endpoints file given with --endpoints"
const CHECK_ARTIFACTS = "artifact paths are relative to the manifest's directory unless --artifact-root says otherwise"
const CHECK_STACK = "--stack names the directory with the programs of the stack"
const READ_LOGS = `read the agents' logs in the trial directory, ${BUNDLE}/*.stdout.log and *.stderr.log`
const AGAIN = "run the trial again; nothing of this one counts"

/** The reasons of the runtime package say what happened and what to do in one sentence. */
const sentence =
  (next: string) =>
  (reason: { readonly message: string }): Rendered => ({ line: reason.message, next })

/** The same with the end of a log under it. */
const withLog =
  (next: string) =>
  (reason: { readonly message: string; readonly lastLines: ReadonlyArray<string> }): Rendered => ({
    line: reason.message,
    detail: reason.lastLines,
    next
  })

/** The same with the end of each agent's log under it. */
const withLogs =
  (next: string) =>
  (reason: {
    readonly message: string
    readonly agents: ReadonlyArray<{ readonly agentId: string; readonly lastLines: ReadonlyArray<string> }>
  }): Rendered => ({
    line: reason.message,
    detail: reason.agents.flatMap((agent) => agent.lastLines.map((line) => `${agent.agentId}: ${line}`)),
    next
  })

export const launchRenderings: Renderings<RuntimeLaunchReason> = {
  EnvironmentLost: ({ detail, environment, exitCode }) => ({
    line: `${environment} is gone${exitCode === undefined ? "" : ` (exit code ${exitCode})`}: ${detail}`,
    next: "look for memory and disk space on this machine, then run the trial again"
  }),
  EnvironmentNotCreated: ({ detail, environment }) => ({
    line: `${environment} could not be created: ${detail}`,
    next: environment.startsWith("local")
      ? "try what works on this machine with: buzz-orchestra doctor; --environment plain needs no sandbox and protects nothing"
      : "try what works on this machine with: buzz-orchestra doctor"
  }),
  CommandNotRun: ({ action, detail, environment }) => ({
    line: `${environment}: could not ${action}: ${detail}`,
    next: "run the trial again; if it stays so, the environment has no working POSIX shell"
  }),
  TransferFailed: ({ detail, direction, environment, path }) => ({
    line: `${environment}: the ${direction} of ${path} failed: ${detail}`,
    next:
      direction === "upload"
        ? "check that there is space left and that the path can be written in the environment"
        : "check that the path is there in the environment, and that there is space left on this machine"
  }),
  ConfigurationOutOfBounds: sentence("buzz-orchestra run --help lists the flags and what they take"),
  CredentialWithoutClass: sentence(CHECK_ROSTER),
  RoleMismatch: sentence(CHECK_ROSTER),
  CredentialsIncomplete: sentence(CHECK_ROSTER),
  PromptUnreadable: sentence(CHECK_ARTIFACTS),
  PromptDigestMismatch: sentence(CHECK_ARTIFACTS),
  EndpointEmpty: sentence("correct the manifest, then try it with: buzz-orchestra manifest check FILE"),
  EndpointNotConfigured: sentence(CORRECT_ENDPOINTS),
  EndpointOverridesIdentity: sentence(CORRECT_ENDPOINTS),
  RelayUrlUnusable: sentence("agents dial --relay, this machine dials --user-relay when it is given"),
  TaskTooLong: sentence("give long texts to the agents as files with --upload FILE:PATH"),
  TaskFileMissing: sentence("correct the part of --upload FILE:PATH before the colon"),
  TrialDirectoryUnwritable: sentence("give another directory with --out DIR"),
  EnvironmentBusy: sentence("wait until the other trial has ended, or run this one in another environment"),
  BinaryMissing: sentence(CHECK_STACK),
  BinaryNotExecutable: sentence("a program of a stack directory is a file that may be executed"),
  CaBundleMissing: sentence("the root certificates are one PEM file; without one, Node's own are used"),
  LayoutNotWritable: sentence("the stack goes to /opt/buzz, or to another root that can be written"),
  UploadNotThere: sentence(AGAIN),
  DigestDiffers: sentence(AGAIN),
  ShellMissing: sentence("an environment needs a POSIX shell, bash and /proc, and nothing else"),
  BashMissing: sentence("an environment needs a POSIX shell, bash and /proc, and nothing else"),
  ArchitectureMismatch: sentence(CHECK_STACK),
  ForwarderNotLaunched: withLog(CHECK_STACK),
  ForwarderNotReady: withLog("raise the limit with --readiness-timeout SECONDS if the machine is only slow"),
  ForwarderPortBusy: withLog(
    "agents dial the relay's own address, so that something of ours has to listen there in the environment"
  ),
  ForwarderDied: withLog(AGAIN),
  RelayNotAnswering: sentence(
    "give a network that reaches it with --network, or with --relay-gateway HOST:PORT where the environment sees it"
  ),
  AgentNotLaunched: withLog(CHECK_STACK),
  AgentsNotSeparated: sentence(
    "let them run as the environment's user with --agent-users image, or auto where it may be so"
  ),
  AgentsNotReady: withLogs("raise the limit with --readiness-timeout SECONDS if the machine is only slow"),
  SubscriptionFailed: withLog(READ_LOGS),
  AgentsDied: withLogs(READ_LOGS),
  TaskNotAccepted: sentence("run the trial again; the agents were ready and have seen no task"),
  TaskMentionMissing: sentence("check the version of the relay: it must keep the tags of an event"),
  RelayLost: sentence(AGAIN),
  ObservationRefused: sentence(AGAIN),
  OutputProbeFailed: sentence(`read ${TRANSCRIPT} in the trial directory`),
  EvidenceNotExported: sentence(AGAIN)
}
