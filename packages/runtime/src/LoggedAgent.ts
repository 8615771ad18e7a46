/**
 * What an agent's logs say of it when they are read from a file, as the accounts need it: the same conclusions that were drawn
 * while the trial ran, for logs that did not come through the watch and for bundles that are checked again. Pure: bytes come in
 * pieces of any size, and memory does not grow with them.
 */
import * as AgentLog from "./AgentLog.ts"
import { classify } from "./AgentSignal.ts"
import type { LogLine } from "./LogRecord.ts"
import * as TeamState from "./TeamState.ts"

/** One of an agent's two logs. */
export type LogStream = "stdout" | "stderr"

/** Both logs of one agent, read so far. */
export interface LoggedAgent {
  readonly team: TeamState.TeamState
  readonly logs: Readonly<Record<LogStream, AgentLog.AgentLog>>
}

const NAME = "agent"

/** Nothing was read yet. `channelId` is the trial's channel. */
export const initial = (channelId: string): LoggedAgent => ({
  team: TeamState.launched(TeamState.initial, NAME, channelId, 0),
  logs: { stdout: AgentLog.initial, stderr: AgentLog.initial }
})

/** Takes the next bytes of one of the logs. */
export const feed = (agent: LoggedAgent, stream: LogStream, bytes: Uint8Array): LoggedAgent => {
  const [log, lines] = AgentLog.feed(agent.logs[stream], bytes)
  return { team: hear(agent.team, lines), logs: { ...agent.logs, [stream]: log } }
}

/** What is known once both logs are read to their ends. */
export const finish = ({ logs, team }: LoggedAgent): TeamState.AgentKnown => {
  const rest = [...AgentLog.flush(logs.stdout)[1], ...AgentLog.flush(logs.stderr)[1]]
  const known = hear(team, rest).agents.get(NAME)
  // It was launched in `initial`, and nobody leaves a team.
  if (known === undefined) throw new Error("the agent of the logs is not in its team")
  return known
}

const hear = (team: TeamState.TeamState, lines: ReadonlyArray<LogLine>): TeamState.TeamState =>
  lines.reduce((before, line) => {
    const signal = classify(line)
    if (signal === undefined || line._tag !== "Record") return before
    return TeamState.heard(before, NAME, signal, Date.parse(line.timestamp))
  }, team)
