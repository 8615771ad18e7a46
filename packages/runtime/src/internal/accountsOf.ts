/**
 * The accounts of a trial from what is known of its agents. Pure.
 */
import type { AgentClass, ExperimentManifest } from "@buzz-orchestra/manifest/ExperimentManifest"
import type { TrialHandle } from "@buzz-orchestra/relay/TrialHandle"
import * as Accounting from "../Accounting.ts"
import type { AgentKnown } from "../TeamState.ts"

/** The accounts of a trial's agents, as far as they are `known`; one that is not was never launched. */
export const accountsOf = (
  handle: Pick<TrialHandle, "credentials">,
  manifest: ExperimentManifest,
  known: ReadonlyMap<string, AgentKnown | undefined>,
  trouble?: string
): Accounting.Accounts =>
  Accounting.of(
    handle.credentials.flatMap(({ agentId, endpoint }) => {
      const agentClass = classOf(manifest, agentId)
      // The credentials were matched with the roster before anything was launched; of what does not match, nothing ran.
      if (agentClass === undefined) return []
      return [{ agentId, agentClass, price: manifest.prices[endpoint], known: known.get(agentId) }]
    }),
    trouble
  )

/** The class that an agent is a member of. */
export const classOf = ({ roster }: ExperimentManifest, agentId: string): AgentClass | undefined =>
  roster.find(({ id }) => agentId.startsWith(`${id}-`) && /^\d+$/.test(agentId.slice(id.length + 1)))
