/**
 * One session of the agent: its tools, what it has read so far, and at most one prompt at a time.
 */
import { Deferred, Effect, FileSystem } from "effect"
import { TracingLog } from "../TracingLog.ts"
import * as AgentFailed from "./AgentFailed.ts"
import { type Faults, play, type TurnClient } from "./AgentTurn.ts"
import type { Playbook, StopReason, Usage } from "./Playbook.ts"
import * as ScriptedModel from "./ScriptedModel.ts"
import * as Team from "./Team.ts"
import type { Toolbox } from "./Toolbox.ts"
import * as Wake from "./Wake.ts"

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

/** Makes a session. The caller owns `toolbox` and its scope. */
export const make = Effect.fnUntraced(function* (options: {
  readonly playbook: Playbook
  readonly maxRounds: number
  /** For clients that send none in the prompt. */
  readonly systemPrompt: string
  readonly toolbox: Toolbox
  readonly client: SessionClient
  readonly faults: Omit<Faults, "goDeaf">
}) {
  const log = yield* TracingLog
  const fileSystem = yield* FileSystem.FileSystem
  const state: State = {
    system: options.systemPrompt,
    played: new Set(),
    length: options.systemPrompt.length,
    usage: { input: 0, output: 0, cached: 0 },
    cancelled: undefined,
    isDeaf: false
  }

  const cost = (cost: Required<Usage>) => {
    state.usage = {
      input: state.usage.input + cost.input,
      output: state.usage.output + cost.output,
      cached: state.usage.cached + cost.cached
    }
    return options.client.usage(state.usage)
  }

  const existing = (paths: ReadonlyArray<string>) =>
    Effect.filter(paths, (path) => Effect.orElseSucceed(fileSystem.exists(path), () => false))

  const chooseTurn = Effect.fnUntraced(function* (team: Team.Team | undefined, wake: Wake.Wake) {
    if (team === undefined)
      return yield* AgentFailed.llm("playbook: the system prompt does not say `You are `<name>` (pubkey `<key>`)`")
    const { agents } = options.playbook
    const turns = Object.hasOwn(agents, team.self.name) ? agents[team.self.name] : undefined
    if (turns === undefined) return yield* AgentFailed.llm(`playbook: it has no agent ${team.self.name}`)
    const files = yield* existing(turns.flatMap((turn) => turn.unless_file ?? []))
    const chosen = ScriptedModel.choose(turns, state.played, wake.text, (path) => files.includes(path))
    if (chosen === undefined)
      yield* log.log("WARN", "buzz_agent", `the playbook has no turn left for this prompt agent=${team.self.name}`)
    else state.played.add(chosen.index)
    return chosen?.turn
  })

  const answer = Effect.fnUntraced(function* (text: string) {
    const wake = Wake.parse(text)
    if (wake.system !== "") state.system = wake.system
    state.length += text.length
    const team = Team.parse(state.system)
    const end = yield* play(yield* chooseTurn(team, wake), {
      client: { ...options.client, cost },
      toolbox: options.toolbox,
      placeholders: { team, wake },
      maxRounds: options.maxRounds,
      conversationLength: state.length,
      faults: { ...options.faults, goDeaf: Effect.sync(() => void (state.isDeaf = true)) }
    })
    state.length = end.conversationLength
    return end.stopReason
  })

  const prompt = Effect.fn("AgentSession.prompt")(function* (text: string) {
    if (state.cancelled !== undefined)
      return yield* AgentFailed.invalidParams("session/prompt: prompt already in flight")
    const cancelled = yield* Deferred.make<"cancelled">()
    state.cancelled = cancelled
    return yield* Effect.raceFirst(answer(text), Deferred.await(cancelled)).pipe(
      Effect.ensuring(Effect.sync(() => void (state.cancelled = undefined)))
    )
  })

  const cancel = Effect.suspend(() =>
    state.cancelled === undefined || state.isDeaf ? Effect.void : Deferred.succeed(state.cancelled, "cancelled")
  )

  return { prompt, cancel } satisfies AgentSession
})

interface State {
  /** The system prompt; a client sends it once, with the first prompt. */
  system: string
  readonly played: Set<number>
  /** Characters of the conversation. */
  length: number
  usage: SessionUsage
  /** Present while a prompt runs. */
  cancelled: Deferred.Deferred<"cancelled"> | undefined
  isDeaf: boolean
}
