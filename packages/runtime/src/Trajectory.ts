/**
 * A trial as one ATIF trajectory: the channel is its root, and each agent's log a trajectory of its own below it. Pure.
 */
import type { Price } from "@buzz-orchestra/manifest/ExperimentManifest"
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import type { Totals } from "./Accounting.ts"
import * as AgentNarrative from "./AgentNarrative.ts"
import * as Atif from "./Atif.ts"
import * as Cost from "./Cost.ts"
import type { Receipt } from "./Receipt.ts"
import * as Usage from "./Usage.ts"

/** An agent of the trial. */
export interface TrajectoryAgent {
  readonly agentId: string
  readonly kind: string
  readonly role: string
  /** The model's name at the provider. */
  readonly endpoint: string
  readonly modelRevision: string
  readonly price: Price | undefined
  readonly narrative: AgentNarrative.AgentNarrative
  readonly receipt: Receipt | undefined
}

/** What a trajectory is made of. */
export interface TrajectoryInput {
  readonly trialId: string
  readonly condition: string
  readonly manifestHash: string
  /** Version of the stack, as far as it is known. */
  readonly version: string
  /** The message that starts the team, for a trial whose task was never posted. */
  readonly task: string
  readonly startedAtMillis: number
  /** The channel's events in order of first sight. */
  readonly events: ReadonlyArray<NostrEvent>
  /** Who takes part, by public key; `role` is `user` for the user. */
  readonly names: ReadonlyMap<string, { readonly name: string; readonly role: string }>
  readonly agents: ReadonlyArray<TrajectoryAgent>
  readonly totals: Totals | undefined
  /** How the trial ended. */
  readonly end: { readonly outcome: string | undefined; readonly detail: string }
  /** Takes secrets out of what was said. */
  readonly redact: (text: string) => string
}

type Unnumbered = Omit<Atif.Step, "step_id">

/** The whole document. */
export const of = (input: TrajectoryInput): Atif.Trajectory => {
  const { agents, condition, end, manifestHash, totals, trialId, version } = input
  const models = [...new Set(agents.map(({ endpoint }) => endpoint))]
  const revisions = [...new Set(agents.map(({ modelRevision }) => modelRevision))].toSorted()
  const [first, ...others] = messages(input)
  const steps = numbered([withReferences(first ?? unposted(input), agents), ...others])
  return {
    schema_version: Atif.SCHEMA_VERSION,
    session_id: trialId,
    trajectory_id: trialId,
    agent: {
      name: "buzz-orchestra",
      version,
      ...(models.length === 1 && models[0] !== undefined ? { model_name: models[0] } : {}),
      extra: { condition, manifest_sha256: manifestHash, model_revisions: revisions }
    },
    steps,
    final_metrics: finalMetrics(totals, steps.length),
    extra: { outcome: end.outcome ?? null, detail: end.detail },
    ...(agents.length === 0 ? {} : { subagent_trajectories: agents.map((agent) => ofAgent(agent, input)) })
  }
}

const MESSAGES: ReadonlySet<number> = new Set([EventKind.Message, EventKind.MessageV2])

/** Who is no agent of the trial speaks as a user: strangers, and the people and bots of the task. */
const messages = ({ events, names, redact }: TrajectoryInput): ReadonlyArray<Unnumbered> =>
  events
    .filter(({ kind }) => MESSAGES.has(kind))
    .map((event) => {
      const author = names.get(event.pubkey)
      return {
        timestamp: new Date(event.created_at * 1000).toISOString(),
        source: author === undefined || author.role === "user" ? "user" : "agent",
        message: redact(event.content),
        extra: { buzz_author: author?.name ?? "unknown", event_id: event.id }
      }
    })

const unposted = ({ redact, startedAtMillis, task }: TrajectoryInput): Unnumbered => ({
  timestamp: new Date(startedAtMillis).toISOString(),
  source: "user",
  message: redact(task),
  extra: { posted: false }
})

/** The task is where the agents begin. */
const withReferences = (step: Unnumbered, agents: ReadonlyArray<TrajectoryAgent>): Unnumbered =>
  agents.length === 0
    ? step
    : {
        ...step,
        observation: {
          results: [{ subagent_trajectory_ref: agents.map(({ agentId }) => ({ trajectory_id: agentId })) }]
        }
      }

const numbered = (steps: readonly [Unnumbered, ...ReadonlyArray<Unnumbered>]) => {
  const [first, ...others] = steps
  const number = (step: Unnumbered, index: number): Atif.Step => ({ step_id: index + 1, ...step })
  return [number(first, 0), ...others.map((step, index) => number(step, index + 1))] as const
}

type Sums = Pick<Totals, "input_tokens" | "output_tokens" | "cached_tokens" | "cost_usd">

const finalMetrics = (
  totals: Sums | undefined,
  total_steps: number
): NonNullable<Atif.Trajectory["final_metrics"]> => ({
  ...known("total_prompt_tokens", totals?.input_tokens),
  ...known("total_completion_tokens", totals?.output_tokens),
  ...known("total_cached_tokens", totals?.cached_tokens),
  ...known("total_cost_usd", totals?.cost_usd),
  total_steps
})

/** A field whose value is known; an unknown one is left out, and never zero. */
const known = <Name extends string>(name: Name, value: number | null | undefined): { readonly [_ in Name]?: number } =>
  value === null || value === undefined ? {} : ({ [name]: value } as { readonly [_ in Name]?: number })

const ofAgent = (agent: TrajectoryAgent, input: TrajectoryInput): Atif.SubagentTrajectory => {
  const { agentId, endpoint, kind, modelRevision, narrative, receipt, role } = agent
  const turns = AgentNarrative.turnsOf(narrative)
  const [first, ...others] = turns.flatMap((turn, index) => stepsOf(agent, turns, turn, index, input))
  const idle: Unnumbered = { source: "system", message: `${agentId} was never woken` }
  const steps = numbered([first ?? idle, ...others])
  const totals = receipt === undefined ? undefined : { ...receipt, cached_tokens: receipt.cached_input_tokens }
  return {
    schema_version: Atif.SCHEMA_VERSION,
    session_id: input.trialId,
    trajectory_id: agentId,
    agent: {
      name: agentId,
      version: input.version,
      model_name: endpoint,
      extra: { kind, role, model_revision: modelRevision }
    },
    steps,
    final_metrics: finalMetrics(totals, steps.length)
  }
}

/** What woke the agent, and what it did then. */
const stepsOf = (
  { agentId, endpoint, price }: TrajectoryAgent,
  turns: ReadonlyArray<AgentNarrative.NarratedTurn>,
  turn: AgentNarrative.NarratedTurn,
  index: number,
  input: TrajectoryInput
): ReadonlyArray<Unnumbered> => {
  const number = index + 1
  const at = turn.startedAt === undefined ? {} : { timestamp: new Date(turn.startedAt).toISOString() }
  // What was reported in part counts with the turn that completes it.
  const before = turns.slice(0, index).findLast(({ usage }) => Usage.totals(usage)?.complete === true)
  const metrics = metricsOf(before?.usage ?? Usage.initial, turn.usage, price)
  const calls = turn.calls.map((title, call) => ({
    tool_call_id: `${agentId}-turn-${number}-call-${call + 1}`,
    function_name: title,
    // The log has the titles only.
    arguments: {}
  }))
  const { calls: droppedCalls, characters } = turn.dropped
  const step: Unnumbered = {
    ...at,
    source: "agent",
    message: turn.said,
    model_name: endpoint,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(metrics === undefined ? {} : { metrics }),
    extra: {
      turn: number,
      end: turn.end ?? null,
      ...(characters === 0 ? {} : { dropped_characters: characters }),
      ...(droppedCalls === 0 ? {} : { dropped_calls: droppedCalls })
    }
  }
  return [...woken(turn, at, input), step]
}

const woken = (
  { delivered }: AgentNarrative.NarratedTurn,
  at: Pick<Unnumbered, "timestamp">,
  { events, names, redact }: TrajectoryInput
): ReadonlyArray<Unnumbered> => {
  if (delivered.length === 0) return []
  const texts = events
    .filter(({ id }) => delivered.includes(id))
    .map(({ content, pubkey }) => `${names.get(pubkey)?.name ?? "unknown"}: ${redact(content)}`)
  return [{ ...at, source: "user", message: texts.join("\n\n"), extra: { event_ids: delivered } }]
}

/** What was reported from the end of one turn to the end of the next; nothing when nobody reported. */
const metricsOf = (before: Usage.Usage, after: Usage.Usage, price: Price | undefined): Atif.Step["metrics"] => {
  const now = Usage.totals(after)
  if (after === before || now === undefined || !now.complete) return undefined
  const then = Usage.totals(before)
  const inputTokens = now.inputTokens - (then?.inputTokens ?? 0)
  const outputTokens = now.outputTokens - (then?.outputTokens ?? 0)
  const isMeasured = now.cachedTokens !== undefined && (then === undefined || then.cachedTokens !== undefined)
  const cachedTokens = isMeasured ? (now.cachedTokens ?? 0) - (then?.cachedTokens ?? 0) : undefined
  const cost = price === undefined ? undefined : Cost.of(price, { inputTokens, outputTokens, cachedTokens })
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    ...known("cached_tokens", cachedTokens),
    ...known("cost_usd", cost === undefined ? undefined : Cost.toNumber(cost.usd))
  }
}
