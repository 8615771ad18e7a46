/**
 * The flags of `run` that say more about the task and the patience of its trial than one that is tried for the first time needs.
 */
import { AGENT_USERS, DEFAULT_AGENT_USERS } from "@buzz-orchestra/runtime/AgentUsers"
import { Option, Result } from "effect"
import { type Command, Flag } from "effect/cli"
import type { UsageInvalid } from "../CommandError.ts"
import { parseDownload, type TrialRequest } from "../TrialRequest.ts"

const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(
    Flag.filter(
      (value) => value.trim() !== "",
      () => "Expected a text that is not empty"
    ),
    Flag.withMetavar(metavar),
    Flag.withDescription(description),
    Flag.optional
  )

const seconds = (name: string, isAllowed: (seconds: number) => boolean, bound: string, description: string) =>
  Flag.Finite(name).pipe(
    Flag.filter(isAllowed, (seconds) => `Expected a number of seconds ${bound}, got ${seconds}`),
    Flag.withMetavar("SECONDS"),
    Flag.withDescription(description),
    Flag.optional
  )

/** To be spread among the flags of a command. */
export const trialFlags = {
  downloads: Flag.String("download").pipe(
    Flag.withMetavar("PATH:FILE"),
    Flag.withDescription("Copy a file or folder of the environment here at the end, however it ended; may be repeated"),
    Flag.atLeast(0)
  ),
  fixture: text("fixture", "FILE", "Who else is on the relay in this task, and what they say; YAML or JSON"),
  evidenceFor: text(
    "evidence-for",
    "TASK",
    "A verifier grades this task by what happened on the relay: without that evidence the trial fails"
  ),
  runId: text("run-id", "ID", "What the trials of one run have in common in every document. Default: cli-<time>"),
  channelLabel: text("channel-label", "TEXT", "Prefix of the channel's name, for people who look at a shared relay"),
  readinessTimeout: seconds(
    "readiness-timeout",
    (seconds) => seconds > 0,
    "above 0",
    "How long the agents may take to be ready. Default: 60"
  ),
  settleTimeout: seconds(
    "settle-timeout",
    (seconds) => seconds >= 0,
    "from 0",
    "How long to wait at the end for what agents still owe to the accounts. Default: 60"
  ),
  maxAgentRounds: Flag.Int("max-agent-rounds").pipe(
    Flag.filter(
      (rounds) => rounds >= 0,
      (rounds) => `Expected a number of model calls from 0, got ${rounds}`
    ),
    Flag.withMetavar("N"),
    Flag.withDescription("Model calls per turn for classes whose manifest sets none. Default: 0, which is no limit"),
    Flag.optional
  ),
  agentUsers: Flag.Literals("agent-users", AGENT_USERS).pipe(
    Flag.withDescription(
      "Whom the agents run as: the environment's user, each a user of its own, or that where it can be"
    ),
    Flag.withDefault(DEFAULT_AGENT_USERS)
  ),
  agentLog: text(
    "agent-log",
    "DIRECTIVES",
    "What else the agents log, as in RUST_LOG: acp::tool=debug. What this program reads is always logged"
  ),
  sweep: Flag.Literals("sweep", ["stack", "all"]).pipe(
    Flag.withDescription("What ends with the trial: the stack, or also the services that agents started for the task"),
    Flag.withDefault("stack" as const)
  )
}

type Flags = Command.Command.Config.Infer<typeof trialFlags>

/** What of a request these flags make. */
export const toTrialSettings = (flags: Flags) =>
  Result.gen(function* () {
    const value = Option.getOrUndefined
    const settings = {
      downloads: yield* Result.all(flags.downloads.map(parseDownload)),
      fixture: value(flags.fixture),
      evidenceFor: value(flags.evidenceFor),
      runId: value(flags.runId),
      channelLabel: value(flags.channelLabel),
      readinessSeconds: value(flags.readinessTimeout),
      settleSeconds: value(flags.settleTimeout),
      maxAgentRounds: value(flags.maxAgentRounds),
      agentUsers: flags.agentUsers,
      agentLog: value(flags.agentLog),
      sweep: flags.sweep
    } satisfies Partial<TrialRequest>
    return settings
  }) satisfies Result.Result<Partial<TrialRequest>, UsageInvalid>
