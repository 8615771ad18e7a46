/**
 * From what is known of a trial to `summary.json`. Pure.
 */
import type { TrialHandle } from "@buzz-orchestra/relay/TrialHandle"
import type { AgentUsersHeld } from "../AgentUsers.ts"
import type { AgentState } from "../AgentState.ts"
import { bundleName, promptName } from "../BundleFiles.ts"
import type { EnvironmentFacts } from "../EnvironmentService.ts"
import type { Receipt } from "../Receipt.ts"
import type { InstalledStack } from "../StackInstaller.ts"
import type { TeamState } from "../TeamState.ts"
import type { TrialOptions } from "../TrialOptions.ts"
import type { TrialFacts } from "../TrialRecord.ts"
import type { AgentSummary, AgentUsersSummary, ContainerSummary, TrialSummary } from "../TrialSummary.ts"
import * as Unenforced from "../Unenforced.ts"
import * as Usage from "../Usage.ts"
import * as Verdict from "../Verdict.ts"
import { accountsOf } from "./accountsOf.ts"
import type { Inspection } from "./inspectFiles.ts"

/** Every agent of the trial as it was before the sweep; `team` is absent when nothing was launched. */
export const agentSummaries = (
  handle: Pick<TrialHandle, "credentials">,
  team: TeamState | undefined
): ReadonlyArray<AgentSummary> =>
  handle.credentials.map(({ agentId, endpoint, identity, kind, role }) => {
    const known = team?.agents.get(agentId)
    const totals = known === undefined ? undefined : Usage.totals(known.usage)
    return {
      agent_id: agentId,
      kind,
      role,
      endpoint,
      pubkey: identity.pubkey,
      system_prompt: promptName(agentId),
      state: known === undefined ? "not-launched" : STATES[known.state._tag],
      turns_started: known?.state.starts ?? 0,
      turns_ended: known?.state.ends ?? 0,
      measurement: null,
      input_tokens: totals?.inputTokens ?? null,
      output_tokens: totals?.outputTokens ?? null,
      cached_tokens: totals?.cachedTokens ?? null,
      cost_usd: null
    }
  })

/** The agent with what its receipt says. */
const withReceipt = (agent: AgentSummary, receipts: ReadonlyArray<Receipt>): AgentSummary => {
  const receipt = receipts.find(({ agent_id }) => agent_id === agent.agent_id)
  if (receipt === undefined) return agent
  const { cached_input_tokens: cached_tokens, cost_usd, input_tokens, measurement, output_tokens } = receipt
  return { ...agent, measurement, input_tokens, output_tokens, cached_tokens, cost_usd }
}

const STATES: Readonly<Record<AgentState["_tag"], string>> = {
  Starting: "starting",
  Ready: "ready",
  InTurn: "in-turn",
  Idle: "idle",
  Requeued: "requeued",
  Orphaned: "orphaned",
  Dead: "dead"
}

/** The error that ended a trial, as far as a document can hold it. */
export interface SummarizedError {
  readonly phase: string
  readonly reason: string
  readonly message: string
}

/** As much of a trial's facts as the summary is made of. */
export type KnownFacts = Omit<TrialFacts, "handle" | "stack"> & {
  readonly handle?: Pick<TrialHandle, "channelId" | "credentials">
  readonly stack?: Pick<InstalledStack, "digests" | "trustStore">
}

export interface SummarizeInput {
  readonly options: Pick<TrialOptions, "condition" | "relayUrl" | "runId" | "trialId">
  readonly environment: Pick<EnvironmentFacts, "architecture" | "kind" | "limitations" | "name">
  /** As `containerSummary` tells it. */
  readonly container: ContainerSummary | undefined
  readonly facts: KnownFacts
  readonly error: SummarizedError | undefined
  readonly endedAt: number
  /** Of the trial directory. */
  readonly files: ReadonlyArray<string>
  /** What is in the files; `undefined` when not every one could be read. */
  readonly inspection: Inspection | undefined
  readonly finishedLater: boolean
}

/** The whole document. */
export const summarize = (input: SummarizeInput): TrialSummary => {
  const { container, endedAt, environment, error, facts, files, inspection, options } = input
  const { condition } = options
  const agents = facts.agents ?? (facts.handle === undefined ? [] : agentSummaries(facts.handle, undefined))
  const unlaunched = facts.handle ?? { credentials: [] }
  const accounts = facts.accounts ?? accountsOf(unlaunched, condition.manifest, new Map())
  return {
    bundle_version: "1",
    run_id: options.runId,
    trial_id: options.trialId,
    condition: condition.manifest.condition,
    manifest_sha256: condition.sha256,
    solo_roster: condition.isSolo,
    channel_id: facts.handle?.channelId ?? null,
    relay_url: options.relayUrl,
    relay_probe: facts.relay === undefined ? null : probeSummary(facts.relay),
    environment: {
      kind: environment.kind,
      name: environment.name,
      architecture: environment.architecture,
      limitations: environment.limitations,
      ...(container === undefined ? {} : { container })
    },
    started_at: new Date(facts.startedAt).toISOString(),
    ended_at: new Date(endedAt).toISOString(),
    outcome: facts.outcome?.outcome ?? null,
    verdict: Verdict.of({ outcome: facts.outcome?.outcome, error, grading: gradingOf(facts) }),
    reward: gradingOf(facts)?.reward ?? null,
    detail: facts.outcome?.detail ?? error?.message ?? "",
    error: error ?? null,
    task_event_id: facts.taskEvent?.id ?? null,
    completion_message_id: facts.completion?.id ?? null,
    completion_message: facts.completion?.content ?? null,
    phases: facts.phases,
    agents: agents.map((agent) => withReceipt(agent, accounts.receipts)),
    roster: agents.map(({ agent_id, endpoint, role, system_prompt }) => ({ agent_id, role, endpoint, system_prompt })),
    totals: accounts.totals,
    accounting: accounts.accounting,
    unenforced: Unenforced.of(condition.manifest, accounts.receipts, container?.limits),
    message_count: facts.messageCount ?? 0,
    evidence: facts.evidence ?? null,
    stack: facts.stack?.digests ?? {},
    trust_store: facts.stack?.trustStore ?? null,
    agent_users: facts.agentUsers === undefined ? null : usersSummary(facts.agentUsers),
    warnings: facts.warnings,
    cleanup: facts.cleanup,
    sweep: facts.sweep ?? null,
    finished_later: input.finishedLater,
    secret_scan: scanOf(inspection),
    files: files.flatMap((file) => bundleName(file) ?? []),
    digests: inspection?.digests ?? {}
  }
}

const scanOf = (inspection: Inspection | undefined): TrialSummary["secret_scan"] =>
  inspection === undefined
    ? { clean: null, findings: [], review: [] }
    : { clean: inspection.findings.length === 0, findings: inspection.findings, review: inspection.review }

/** The only grade that is given here: the output of the one condition whose output is known was there. */
const gradingOf = ({ phases }: Pick<TrialFacts, "phases">): Verdict.Grading | undefined =>
  phases.some(({ error, phase }) => phase === "verify-output" && error === null)
    ? { reward: Verdict.FULL_REWARD }
    : undefined

const probeSummary = (relay: NonNullable<TrialFacts["relay"]>): TrialSummary["relay_probe"] =>
  relay._tag === "RelayNotProbed"
    ? { result: "unknown", detail: relay.detail }
    : { result: relay.handshake ? "handshake" : "connection", detail: null }

const usersSummary = ({ asked, reason, users }: AgentUsersHeld): AgentUsersSummary => ({
  asked,
  held: users.size === 0 ? "image" : "own",
  reason: reason ?? null,
  uids: Object.fromEntries([...users].map(([agentId, { uid }]) => [agentId, uid]))
})
