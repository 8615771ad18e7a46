/**
 * Whoever answers prompts: a playbook, or a model behind HTTP.
 */
import type { Effect } from "effect"
import type { AgentFailed } from "./AgentFailed.ts"
import type { StopReason, Usage } from "./Playbook.ts"
import type { Toolbox } from "./Toolbox.ts"

/** What the client is told while a prompt is answered. */
export interface TurnClient {
  readonly say: (text: string) => Effect.Effect<void>
  readonly toolStarted: (call: {
    readonly id: string
    readonly title: string
    readonly args: Readonly<Record<string, unknown>>
  }) => Effect.Effect<void>
  readonly toolEnded: (call: {
    readonly id: string
    readonly text: string
    readonly isError: boolean
  }) => Effect.Effect<void>
  /** After every response: what it cost. */
  readonly cost: (cost: Required<Usage>) => Effect.Effect<void>
  /** Something still happens. */
  readonly keepAlive: Effect.Effect<void>
}

/** What a playbook may do to the agent process itself. */
export interface ProcessFaults {
  readonly crash: Effect.Effect<never>
  readonly ignoreTerm: Effect.Effect<void>
}

/** A session, as its provider sees it. */
export interface ProviderSession {
  readonly toolbox: Toolbox
  readonly client: TurnClient
  readonly faults: ProcessFaults
  /** For clients that send none in the prompt. */
  readonly systemPrompt: string
  /** Responses allowed for one prompt; 0 is no limit. */
  readonly maxRounds: number
}

/** The conversation of one session. */
export interface Conversation {
  /** Answers one prompt; the session asks for one at a time. Interruptible at any point. */
  answer(text: string): Effect.Effect<StopReason, AgentFailed>
  /** Whether cancels are not heard any more. */
  readonly isDeaf: () => boolean
}

/** Begins the conversation of a session. */
export type Provider = (session: ProviderSession) => Conversation
