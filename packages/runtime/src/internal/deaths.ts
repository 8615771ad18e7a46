/**
 * From ended programs to the reason that ends a trial. Pure.
 */
import { type AgentDeath, AgentsDied, ForwarderDied } from "../RuntimeLaunchError.ts"
import { FORWARDER } from "../StackFiles.ts"
import type { TeamState } from "../TeamState.ts"

/** Programs of which nothing more can come: ended ones, and agents that announced their end. In the order of launch. */
export const dead = (team: TeamState): ReadonlyArray<string> => [
  ...[...team.agents].flatMap(([agentId, { state }]) => (state._tag === "Dead" ? [agentId] : [])),
  ...[...team.ended.keys()].filter((name) => !team.agents.has(name))
]

/** The reason for these deaths. Without the forwarder nobody reaches the relay, so its end is the cause of the others'. */
export const reasonOf = (
  team: TeamState,
  names: ReadonlyArray<string>,
  lastLines: ReadonlyMap<string, ReadonlyArray<string>>,
  nowMillis: number
): AgentsDied | ForwarderDied => {
  if (names.includes(FORWARDER)) {
    const end = team.ended.get(FORWARDER)
    return new ForwarderDied({
      exitCode: end?.exitCode,
      signal: end?.signal,
      lastLines: lastLines.get(FORWARDER) ?? []
    })
  }
  return new AgentsDied({ agents: names.map((name) => deathOf(team, name, lastLines.get(name) ?? [], nowMillis)) })
}

const deathOf = (team: TeamState, name: string, lastLines: ReadonlyArray<string>, nowMillis: number): AgentDeath => {
  const end = team.ended.get(name)
  const state = team.agents.get(name)?.state
  const said = state?._tag === "Dead" ? state.detail : undefined
  return {
    agentId: name,
    pid: end?.pid,
    // Agents that lose all their processes say so and then exit with code 0; their word says more than the code.
    detail: said === undefined || said === end?.detail ? "its process ended" : said,
    exitCode: end?.exitCode,
    signal: end?.signal,
    at: end?.at ?? state?.sinceMillis ?? nowMillis,
    lastLines
  }
}
