/**
 * What a person wants to know of a trial that is over, drawn from its bundle: what `show` prints, in one document. Pure.
 *
 * Where the summary is missing, because the harness was killed, the events tell as much as they know.
 */
import type { Bundle } from "@buzz-orchestra/runtime/Bundle"
import { EVENTS } from "@buzz-orchestra/runtime/BundleFiles"
import type { TrialEvent } from "@buzz-orchestra/runtime/TrialEvent"

/** One agent. Numbers are null where they are unknown. */
export interface ReportedAgent {
  readonly agent_id: string
  readonly kind: string
  readonly role: string
  readonly endpoint: string
  readonly state: string
  readonly turns: number
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly cached_tokens: number | null
  readonly cost_usd: number | null
  /** Messages it wrote. */
  readonly messages: number
}

/** A span of time in which an agent worked; seconds from the start of the trial. */
export interface ReportedTurn {
  readonly agent_id: string
  readonly turn: number
  readonly from: number
  readonly to: number
}

/** One message. */
export interface ReportedMessage {
  readonly id: string
  /** Seconds from the start of the trial, when it was seen; null when that is not known. */
  readonly at: number | null
  readonly author: string
  /** Names of those whom it mentions. */
  readonly to: ReadonlyArray<string>
  readonly content: string
  readonly reply_to: string | null
}

/** The whole report. */
export interface TrialReport {
  readonly directory: string
  readonly condition: string
  readonly trial_id: string
  readonly manifest_sha256: string
  readonly environment: string
  readonly started_at: string | null
  /** Of the whole trial. */
  readonly seconds: number
  readonly outcome: string | null
  readonly verdict: string | null
  readonly reward: number | null
  readonly detail: string
  readonly error: { readonly phase: string; readonly reason: string; readonly message: string } | null
  readonly agents: ReadonlyArray<ReportedAgent>
  readonly messages: ReadonlyArray<ReportedMessage>
  readonly turns: ReadonlyArray<ReportedTurn>
  readonly phases: ReadonlyArray<{ readonly phase: string; readonly seconds: number; readonly error: string | null }>
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly cached_tokens: number | null
  readonly cost_usd: number | null
  /** Cost is at least so much, where it is not known. */
  readonly cost_at_least_usd: number | null
  /** One sentence each; empty when nothing is out of the ordinary. */
  readonly anomalies: ReadonlyArray<string>
}

/** The report of a bundle; `directory` is how a person may type it. */
export const trialReport = (bundle: Bundle, directory: string): TrialReport => {
  const { config, manifest, summary } = bundle
  const events = bundle.events
  const messages = messagesOf(bundle)
  const turns = turnsOf(bundle)
  const started = events.map(({ event }) => event).find((event) => event._tag === "TrialStarted")
  return {
    directory,
    condition: summary?.condition ?? started?.condition ?? config?.agent.kwargs.condition ?? "unknown",
    trial_id: summary?.trial_id ?? config?.agent.kwargs.trial_id ?? "unknown",
    manifest_sha256: manifest?.sha256 ?? summary?.manifest_sha256 ?? "unknown",
    environment: summary?.environment.name ?? config?.environment.kwargs.name ?? "unknown",
    started_at: summary?.started_at ?? (started === undefined ? null : new Date(started.at).toISOString()),
    seconds: events.at(-1)?.elapsed ?? 0,
    outcome: summary?.outcome ?? null,
    verdict: summary?.verdict ?? null,
    reward: summary?.reward ?? null,
    detail: summary?.detail ?? "the harness was killed before the end; bundle finish completes what it left",
    error: summary?.error ?? null,
    agents: agentsOf(bundle, messages, turns),
    messages,
    turns,
    phases: (summary?.phases ?? []).map(({ error, phase, seconds }) => ({ phase, seconds, error })),
    input_tokens: summary?.totals.input_tokens ?? null,
    output_tokens: summary?.totals.output_tokens ?? null,
    cached_tokens: summary?.totals.cached_tokens ?? null,
    cost_usd: summary?.totals.cost_usd ?? null,
    cost_at_least_usd: summary?.accounting.at_least.cost_usd ?? null,
    anomalies: anomaliesOf(bundle)
  }
}

const has =
  <Tag extends TrialEvent["_tag"]>(tag: Tag) =>
  (read: {
    readonly event: TrialEvent
    readonly elapsed: number
  }): read is {
    readonly event: Extract<TrialEvent, { readonly _tag: Tag }>
    readonly elapsed: number
  } =>
    read.event._tag === tag

/** Who takes part, and how others were called who said something. */
const namesOf = ({ events }: Bundle): ReadonlyMap<string, string> => {
  const provisioned = events.findLast(has("Provisioned"))?.event
  const seen = events.filter(has("MessageSeen"))
  return new Map([
    ...seen.map(({ event: { author, event } }) => [event.pubkey, author] as const),
    ...(provisioned === undefined ? [] : [[provisioned.user.pubkey, provisioned.user.name] as const]),
    ...(provisioned?.agents ?? []).map(({ agentId, pubkey }) => [pubkey, agentId] as const)
  ])
}

/** The transcript has the last word on what was said, the events on when it was seen. */
const messagesOf = (bundle: Bundle): ReadonlyArray<ReportedMessage> => {
  const names = namesOf(bundle)
  const seen = bundle.events.filter(has("MessageSeen"))
  const at = new Map(seen.map(({ elapsed, event }) => [event.event.id, elapsed]))
  const nameOf = (pubkey: string) => names.get(pubkey) ?? `stranger ${pubkey.slice(0, 8)}`
  const said =
    bundle.transcript?.messages ??
    seen.map(({ event: { author, event } }) => ({
      ...event,
      author,
      mentioned_pubkeys: event.tags.flatMap(([name, value]) => (name === "p" && value !== undefined ? [value] : [])),
      reply_to_event_id: event.tags.find(([name, , , mark]) => name === "e" && mark === "reply")?.[1] ?? null
    }))
  return said
    .filter(({ kind }) => MESSAGES.has(kind))
    .map((message) => ({
      id: message.id,
      at: at.get(message.id) ?? null,
      author: message.author,
      to: message.mentioned_pubkeys.map(nameOf),
      content: message.content,
      reply_to: message.reply_to_event_id
    }))
}

/** Edits and deletions are no messages of their own. */
const MESSAGES: ReadonlySet<number> = new Set([9, 40_002])

const turnsOf = ({ events }: Bundle): ReadonlyArray<ReportedTurn> => {
  const open = new Map<string, { readonly turn: number; readonly from: number }>()
  const turns: Array<ReportedTurn> = []
  const close = (agent_id: string, to: number) => {
    const turn = open.get(agent_id)
    if (turn !== undefined) turns.push({ agent_id, ...turn, to })
    open.delete(agent_id)
  }
  for (const { elapsed, event } of events.filter(has("AgentChanged"))) {
    const { agentId, view } = event
    if (view._tag === "InTurn" && open.get(agentId)?.turn === view.turn) continue
    close(agentId, elapsed)
    if (view._tag === "InTurn") open.set(agentId, { turn: view.turn, from: elapsed })
  }
  for (const agentId of open.keys()) close(agentId, events.at(-1)?.elapsed ?? 0)
  return turns
}

const agentsOf = (
  bundle: Bundle,
  messages: ReadonlyArray<ReportedMessage>,
  turns: ReadonlyArray<ReportedTurn>
): ReadonlyArray<ReportedAgent> => {
  const written = (name: string) => messages.filter(({ author }) => author === name).length
  if (bundle.summary !== undefined)
    return bundle.summary.agents.map((agent) => ({
      agent_id: agent.agent_id,
      kind: agent.kind,
      role: agent.role,
      endpoint: agent.endpoint,
      state: agent.state,
      turns: agent.turns_started,
      input_tokens: agent.input_tokens,
      output_tokens: agent.output_tokens,
      cached_tokens: agent.cached_tokens,
      cost_usd: agent.cost_usd,
      messages: written(agent.agent_id)
    }))
  return (bundle.events.findLast(has("Provisioned"))?.event.agents ?? []).map(({ agentId, endpoint, kind, role }) => ({
    agent_id: agentId,
    kind,
    role,
    endpoint,
    state: "unknown",
    turns: turns.filter(({ agent_id }) => agent_id === agentId).length,
    input_tokens: null,
    output_tokens: null,
    cached_tokens: null,
    cost_usd: null,
    messages: written(agentId)
  }))
}

/** Clocks of authors that differ from the harness's by more are worth a line; the relay accepts up to 15 minutes. */
const SKEW_SECONDS = 5

const anomaliesOf = (bundle: Bundle): ReadonlyArray<string> => {
  const { events, isTorn, malformed, summary, transcript, unfinished } = bundle
  const seen = events.filter(has("MessageSeen"))
  const skews = seen.map(({ event }) => event.at / 1000 - event.event.created_at)
  const skew = skews.toSorted((a, b) => Math.abs(b) - Math.abs(a))[0] ?? 0
  const retries = events.filter(has("Retried")).length
  const passed = events.filter(has("DeadlinePassed")).map(({ event }) => event.what)
  const { idle_agents = [], owing_agents = [], unmeasured_agents = [] } = summary?.accounting ?? {}
  const survivors = summary?.sweep?.survivors ?? []
  const skipped = new Set(
    (summary?.agents ?? []).filter(({ state }) => state === "dead").map(({ agent_id }) => agent_id)
  )
  return [
    ...(summary === undefined || summary.finished_later ? ["the harness was killed before the end"] : []),
    ...list("never woken", idle_agents),
    ...list("usage not measured", unmeasured_agents),
    ...list("usage of the last turn not reported", owing_agents),
    ...list("died", [...skipped]),
    ...list(
      "survived the sweep",
      survivors.map(({ command, pid }) => `${pid} ${command}`)
    ),
    ...(retries === 0 ? [] : [`tried again ${retries} ${retries === 1 ? "time" : "times"}`]),
    ...list("deadlines passed", passed),
    ...(Math.abs(skew) < SKEW_SECONDS ? [] : [`a message's clock differs by ${Math.round(skew)} s`]),
    ...(transcript?.truncated === true ? ["messages may be missing: the channel was not read to its root"] : []),
    ...list(
      "secrets found",
      (summary?.secret_scan.findings ?? []).map(({ line, path }) => `${path}:${line}`)
    ),
    ...(summary?.warnings ?? []).map((warning) => `warning: ${warning}`),
    ...list("never written to the end", [...unfinished, ...(isTorn ? [EVENTS] : [])]),
    ...list("malformed", [...new Set(malformed.map(({ path }) => path))])
  ]
}

const list = (what: string, items: ReadonlyArray<string>): ReadonlyArray<string> =>
  items.length === 0 ? [] : [`${what}: ${items.join(", ")}`]
