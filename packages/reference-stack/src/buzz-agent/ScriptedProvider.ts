/**
 * The provider whose model is a playbook: chooses the turn for a prompt and plays it.
 */
import { Effect, FileSystem } from "effect"
import { TracingLog } from "../TracingLog.ts"
import * as AgentFailed from "./AgentFailed.ts"
import { play } from "./AgentTurn.ts"
import type { Playbook } from "./Playbook.ts"
import type { Conversation, Provider, ProviderSession } from "./Provider.ts"
import * as ScriptedModel from "./ScriptedModel.ts"
import * as Team from "./Team.ts"
import * as Wake from "./Wake.ts"

/** Plays `playbook`, each session from its beginning. */
export const make = Effect.fnUntraced(function* (playbook: Playbook) {
  const log = yield* TracingLog
  const fileSystem = yield* FileSystem.FileSystem

  const existing = (paths: ReadonlyArray<string>) =>
    Effect.filter(paths, (path) => Effect.orElseSucceed(fileSystem.exists(path), () => false))

  const chooseTurn = Effect.fnUntraced(function* (state: State, team: Team.Team | undefined, wake: Wake.Wake) {
    if (team === undefined)
      return yield* AgentFailed.llm("playbook: the system prompt does not say `You are `<name>` (pubkey `<key>`)`")
    const { agents } = playbook
    const turns = Object.hasOwn(agents, team.self.name) ? agents[team.self.name] : undefined
    if (turns === undefined) return yield* AgentFailed.llm(`playbook: it has no agent ${team.self.name}`)
    const files = yield* existing(turns.flatMap((turn) => turn.unless_file ?? []))
    const chosen = ScriptedModel.choose(turns, state.played, wake.text, (path) => files.includes(path))
    if (chosen === undefined)
      yield* log.log("WARN", "buzz_agent", `the playbook has no turn left for this prompt agent=${team.self.name}`)
    else state.played.add(chosen.index)
    return chosen?.turn
  })

  const provider: Provider = (session: ProviderSession) => {
    const { systemPrompt } = session
    const state: State = { system: systemPrompt, played: new Set(), length: systemPrompt.length, isDeaf: false }
    const conversation: Conversation = {
      answer: Effect.fnUntraced(function* (text: string) {
        const wake = Wake.parse(text)
        if (wake.system !== "") state.system = wake.system
        state.length += text.length
        const team = Team.parse(state.system)
        const end = yield* play(yield* chooseTurn(state, team, wake), {
          client: session.client,
          toolbox: session.toolbox,
          placeholders: { team, wake },
          maxRounds: session.maxRounds,
          conversationLength: state.length,
          faults: { ...session.faults, goDeaf: Effect.sync(() => void (state.isDeaf = true)) }
        })
        state.length = end.conversationLength
        return end.stopReason
      }),
      isDeaf: () => state.isDeaf
    }
    return conversation
  }
  return provider
})

interface State {
  /** The system prompt; a client sends it once, with the first prompt. */
  system: string
  readonly played: Set<number>
  /** Characters of the conversation. */
  length: number
  isDeaf: boolean
}
