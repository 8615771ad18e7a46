/**
 * Test facility: a provisioned trial without a relay, with fixed keys: the user is identity 1, the agents follow from 2.
 */
import type { AgentCredential, TrialHandle } from "../TrialHandle.ts"
import { testIdentity } from "./TestIdentity.ts"

/** What a test says about an agent; the rest has defaults. */
export type TestAgent = Pick<AgentCredential, "agentId"> & Partial<AgentCredential>

/** A lead and a worker in a private channel, unless `fields` say otherwise. */
export const testTrialHandle = (
  fields: Partial<Omit<TrialHandle, "credentials">> & { readonly agents?: ReadonlyArray<TestAgent> } = {}
): TrialHandle => {
  const { agents = [{ agentId: "lead-1", kind: "orchestrator" }, { agentId: "worker-1" }], ...rest } = fields
  return {
    runId: "run",
    trialId: "11111111-2222-4333-8444-555555555555",
    manifestHash: "a".repeat(64),
    relayUrl: "ws://localhost:3600",
    userRelayUrl: undefined,
    channelId: "99999999-8888-4777-8666-555555555555",
    user: { name: "user", identity: testIdentity(1) },
    ...rest,
    credentials: agents.map((agent, index) => ({
      kind: "worker",
      role: agent.kind ?? "worker",
      identity: testIdentity(index + 2),
      endpoint: "model",
      apiKey: undefined,
      ...agent
    }))
  }
}
