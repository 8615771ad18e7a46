/**
 * Launches the programs of one trial, follows them through one watch, and ends them with their scope. This file is the
 * contract; the implementation is `AgentSupervisorLive`.
 */
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import { Context, type Duration, type Effect, type Scope, type Stream, type Tracer } from "effect"
import type { AgentUser } from "./AgentUsers.ts"
import type { EnvironmentError } from "./EnvironmentError.ts"
import type { EnvironmentVariables } from "./EnvironmentService.ts"
import type { Layout } from "./Layout.ts"
import type {
  AgentNotLaunched,
  AgentsDied,
  AgentsNotReady,
  ForwarderDied,
  SubscriptionFailed
} from "./RuntimeLaunchError.ts"
import type { ProgramEnd, TeamState } from "./TeamState.ts"
import type { TrialHappening } from "./TrialEvent.ts"
import type { WatchEvent } from "./WatchEvent.ts"

/** One agent to launch. */
export interface AgentLaunch {
  readonly agentId: string
  /** As `launchEnvironment` composes it. */
  readonly env: EnvironmentVariables
  /** The composed prompt; uploaded to `promptPath` with mode 0600. */
  readonly systemPrompt: string
  /** `BUZZ_ACP_SYSTEM_PROMPT_FILE` of `env`. */
  readonly promptPath: string
  /** User inside the environment who runs the agent and owns its prompt. Default: the environment's own. */
  readonly user?: string
  /** Instead of `user`: one that the environment's own user becomes, who keeps the agent's logs. */
  readonly own?: AgentUser
}

/** A program beside the agents, such as the forwarder. */
export interface ProgramLaunch {
  readonly name: string
  /** Absolute path inside the environment. */
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly env?: EnvironmentVariables
}

/** A program that runs already, such as a forwarder that an earlier trial left running. */
export interface ProgramAdoption {
  readonly name: string
  readonly pid: number
  /** Field 22 of its stat. */
  readonly startTime: string
}

/** A program that was started, or adopted. */
export interface RunningProgram {
  readonly pid: number
  /** Succeeds when the program has ended, with how it ended. */
  readonly end: Effect.Effect<ProgramEnd, EnvironmentError>
  /** The first line of its logs, since this start, in which `pattern` is found. */
  readonly awaitLine: (pattern: RegExp) => Effect.Effect<string, EnvironmentError>
  /** What it said last, redacted, oldest first. */
  readonly lastLines: Effect.Effect<ReadonlyArray<string>>
}

/** What ends a trial from the side of the stack: a death, or an environment that is gone. */
export type StackFailure = AgentsDied | ForwarderDied | EnvironmentError

/** What a supervision is opened with. */
export interface SupervisionOptions {
  readonly layout: Layout
  /** The agents' channel: a subscription to another one makes nobody ready. */
  readonly channelId: string
  /** Sees every event of the watch before anything is concluded from it. */
  readonly onWatchEvent: (event: WatchEvent) => Effect.Effect<void>
  /** Takes secrets out of what an agent said. */
  readonly redact: (text: string) => string
  /** Told each change of an agent, and its usage, before anybody who waits for it goes on. Default: nobody. */
  readonly publish?: (happening: TrialHappening) => Effect.Effect<void>
  /** Below which the spans of turns stand: that of the trial. Default: they stand alone. */
  readonly span?: Tracer.AnySpan
  /** Told what did not work and is survived, such as a program that could not be ended. Default: the log. */
  readonly warn?: (detail: string) => Effect.Effect<void>
}

/** One trial's stack under watch. Ends with the scope it was opened in. */
export interface Supervision {
  /**
   * Uploads the prompt and starts `buzz-acp`; returns once the watch has seen the process. The scope ends it: TERM, at most 2 s,
   * KILL, unless it has ended by then.
   */
  launch(agent: AgentLaunch): Effect.Effect<void, AgentNotLaunched | StackFailure, Scope.Scope>
  /** Starts another program, likewise. A program may be started again under the same name once it has ended. */
  start(program: ProgramLaunch): Effect.Effect<RunningProgram, AgentNotLaunched | EnvironmentError, Scope.Scope>
  /** Follows a program that runs already as if it had been started here. The scope ends it likewise. */
  adopt(program: ProgramAdoption): Effect.Effect<RunningProgram, AgentNotLaunched | EnvironmentError, Scope.Scope>
  /** Waits until every one of these agents hears the channel. Fails at once when one says that it never will. */
  awaitReady(
    agentIds: ReadonlyArray<string>,
    within: Duration.Input
  ): Effect.Effect<void, AgentsNotReady | SubscriptionFailed | StackFailure>
  /** Fails as soon as something that was launched has ended by itself. */
  readonly awaitDeath: Effect.Effect<never, StackFailure>
  /** Fails when the watch is gone: nothing is learnt any more, and who waits for news waits in vain. */
  readonly lost: Effect.Effect<never, EnvironmentError>
  /** Fails as soon as an agent says that it will not hear the channel. */
  readonly awaitRefusal: Effect.Effect<never, SubscriptionFailed>
  /** What is known now. */
  readonly state: Effect.Effect<TeamState>
  /** What is known now, then each change; a slow consumer sees the newest. */
  readonly changes: Stream.Stream<TeamState>
  /** Tells which message was seen in the channel: a mention in it is undelivered until its agent confirms it. */
  noticed(
    event: NostrEvent,
    agents: ReadonlyArray<{ readonly agentId: string; readonly pubkey: string }>
  ): Effect.Effect<void>
  /** From now on programs are ended on purpose: nobody fails for it, and what is known of them stays as it is. */
  readonly expectEnds: Effect.Effect<void>
  /** Returns once so many bytes of each of these logs have gone through `onWatchEvent`; fails when the watch is gone. */
  handled(sizes: ReadonlyMap<string, number>): Effect.Effect<void, EnvironmentError>
  /** What was started, by name: pid and start time (field 22 of its stat; `undefined` when it ended at once). */
  readonly started: Effect.Effect<ReadonlyMap<string, { readonly pid: number; readonly startTime: string | undefined }>>
}

/** Launches the programs of one trial and follows them through one watch. */
export class AgentSupervisor extends Context.Service<
  AgentSupervisor,
  {
    /** Opens the watch on the layout's logs. The scope owns the watch. */
    open(options: SupervisionOptions): Effect.Effect<Supervision, EnvironmentError, Scope.Scope>
  }
>()("@buzz-orchestra/runtime/AgentSupervisor") {}
