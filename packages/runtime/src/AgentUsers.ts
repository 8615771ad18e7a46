/**
 * As which user of an environment each agent runs. Agents that share a user can read each other's variables, keys among them,
 * and each other's prompts, and write each other's logs; agents that have one of their own each cannot. Pure.
 *
 * The default is the environment's own user, although that keeps nobody apart: it is whom a task's image was made for, usually
 * root. An agent with a user of its own can install no packages, and changes the group and mode of the task's files so that all
 * agents can write them. Whether a task bears that only whoever runs it can know.
 */

/**
 * `image`: all as the environment's own user. `own`: each as a user of its own, or the trial fails. `auto`: each as a user of its
 * own where the environment allows it, else as with `image`.
 */
export const AGENT_USERS = ["image", "own", "auto"] as const
/** What was asked for. */
export type AgentUsers = (typeof AGENT_USERS)[number]

/** Whom the agents run as unless the options say otherwise. */
export const DEFAULT_AGENT_USERS: AgentUsers = "image"

/** A user of an agent's own. */
export interface AgentUser {
  /** Its name where the environment's `/etc/passwd` could be written. */
  readonly name: string
  readonly uid: number
  /** Shared by all agents, as are files that they write in the work directory. */
  readonly gid: number
  /** Its HOME, which no other agent can enter. */
  readonly home: string
  /** Root's way to become it: the words before a program and its arguments, which then runs in the same process. */
  readonly become: ReadonlyArray<string>
}

/** Whom the agents of a trial ran as. */
export interface AgentUsersHeld {
  readonly asked: AgentUsers
  /** By agent; empty where all ran as the environment's own user. */
  readonly users: ReadonlyMap<string, AgentUser>
  /** Why they have no users of their own although that was asked for. */
  readonly reason: string | undefined
}

/** Above the users that systems number themselves and below those of systemd's services. */
const SHARED_GID = 61_000

/** An agent's place among users, before it is known how to become it. */
export type AgentAccount = Omit<AgentUser, "become">

/** A user for each agent, by the order of the team; homes lie in `directory`. */
export const accountsFor = (
  agentIds: ReadonlyArray<string>,
  directory: string
): ReadonlyArray<AgentAccount & { readonly agentId: string }> =>
  agentIds.map((agentId, index) => ({
    agentId,
    name: `buzz-agent-${index + 1}`,
    uid: SHARED_GID + 1 + index,
    gid: SHARED_GID,
    home: `${directory}/${agentId}`
  }))
