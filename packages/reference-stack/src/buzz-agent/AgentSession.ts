/**
 * One session of the agent: at most one prompt at a time, what all of them cost, and how one is cancelled.
 */
import { Deferred, Effect } from "effect"
import * as AgentFailed from "./AgentFailed.ts"
import type { StopReason, Usage } from "./Playbook.ts"
import type { Provider, ProviderSession, TurnClient } from "./Provider.ts"

/** Counters of a session since it began. */
export type SessionUsage = Required<Usage>

/** What the client is told, with the session's counters instead of one response's. */
export interface SessionClient extends Omit<TurnClient, "cost"> {
  readonly usage: (usage: SessionUsage) => Effect.Effect<void>
}

export interface AgentSession {
  /** Answers a prompt. A second one while the first runs is refused. */
  prompt(text: string): Effect.Effect<StopReason | "cancelled", AgentFailed.AgentFailed>
  /** Ends the running prompt with `cancelled`, if there is one. */
  readonly cancel: Effect.Effect<void>
}

/** Makes a session. The caller owns the toolbox and its scope. */
export const make = (
  options: Omit<ProviderSession, "client"> & { readonly provider: Provider; readonly client: SessionClient }
): AgentSession => {
  let usage: SessionUsage = { input: 0, output: 0, cached: 0 }
  /** Present while a prompt runs. */
  let running: Deferred.Deferred<"cancelled"> | undefined

  const cost = (cost: Required<Usage>) =>
    Effect.suspend(() => {
      usage = {
        input: usage.input + cost.input,
        output: usage.output + cost.output,
        cached: usage.cached + cost.cached
      }
      return options.client.usage(usage)
    })

  const conversation = options.provider({ ...options, client: { ...options.client, cost } })

  const prompt = Effect.fn("AgentSession.prompt")(function* (text: string) {
    if (running !== undefined) return yield* AgentFailed.invalidParams("session/prompt: prompt already in flight")
    const cancelled = Deferred.makeUnsafe<"cancelled">()
    running = cancelled
    return yield* Effect.raceFirst(conversation.answer(text), Deferred.await(cancelled)).pipe(
      Effect.ensuring(Effect.sync(() => void (running = undefined)))
    )
  })

  const cancel = Effect.suspend(() =>
    running === undefined || conversation.isDeaf() ? Effect.void : Deferred.succeed(running, "cancelled")
  )

  return { prompt, cancel }
}
