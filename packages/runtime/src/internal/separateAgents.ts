/**
 * Gives each agent of a team a user of its own, where that is asked for and the environment allows it.
 */
import { Duration, Effect } from "effect"
import { accountsFor, type AgentUser, type AgentUsers, type AgentUsersHeld } from "../AgentUsers.ts"
import type { EnvironmentError } from "../EnvironmentError.ts"
import { EnvironmentService } from "../EnvironmentService.ts"
import type { Layout } from "../Layout.ts"
import { AgentsNotSeparated } from "../RuntimeLaunchError.ts"
import { namesScript, ownUsersScript } from "./ownUsersScript.ts"
import { parseProbe, probeScript } from "./userSwitch.ts"

/** The task may have brought very many files, each of which is copied up in a layered file system. */
const PREPARE_LIMIT = Duration.minutes(5)

/** Of one team. */
export interface SeparateAgents {
  readonly asked: AgentUsers
  readonly agentIds: ReadonlyArray<string>
  readonly layout: Layout
}

/** To be called when the task's files are there. Fails where users of their own are insisted on and cannot be had. */
export const separateAgents = Effect.fnUntraced(function* (
  options: SeparateAgents
): Effect.fn.Return<AgentUsersHeld, AgentsNotSeparated | EnvironmentError, EnvironmentService> {
  const { asked } = options
  if (asked === "image") return { asked, users: new Map(), reason: undefined }
  const made = yield* make(options)
  if (!("why" in made)) return { asked, users: made, reason: undefined }
  const { facts } = yield* EnvironmentService
  if (asked === "own") return yield* new AgentsNotSeparated({ environment: facts.name, detail: made.why })
  return { asked, users: new Map(), reason: made.why }
})

type Users = ReadonlyMap<string, AgentUser>

const make = Effect.fnUntraced(function* ({ agentIds, layout }: SeparateAgents) {
  const { exec, facts } = yield* EnvironmentService
  if (facts.mark !== undefined) return { why: "it is this machine, whose users and files are not a trial's to change" }
  const accounts = accountsFor(agentIds, facts.homeDirectory)
  const [first] = accounts
  const none: Users = new Map()
  if (first === undefined) return none
  // One way to become a user wants its name.
  const probe = yield* exec(`${namesScript(accounts)}\n${probeScript(first)}`, { cwd: "/" })
  const found = parseProbe(probe.stdout, first)
  if ("why" in found) return found
  const users: Users = new Map(
    accounts.map(({ agentId, ...account }) => [agentId, { ...account, become: found.become(account) }])
  )
  const script = ownUsersScript({ users: [...users.values()], layout, workDirectory: facts.workDirectory })
  const prepared = yield* exec(script, { cwd: "/", timeLimit: PREPARE_LIMIT })
  if (prepared.timedOut) return { why: `its files were not shared within ${Duration.format(PREPARE_LIMIT)}` }
  return prepared.exitCode === 0 ? users : { why: prepared.stderr.trim() || "no homes can be made there" }
})
