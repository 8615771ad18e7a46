/**
 * From the events that a killed harness wrote to the facts of its trial. Pure.
 */
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import { promptName } from "../BundleFiles.ts"
import type { ReadEvent } from "../EventLine.ts"
import type { AgentView, Phase, ProvisionedAgent, TrialEvent } from "../TrialEvent.ts"
import type { AgentSummary } from "../TrialSummary.ts"
import type { Names, People } from "./channelView.ts"
import type { KnownFacts } from "./summarize.ts"

/** What the events tell. */
export interface LastWords {
  readonly facts: KnownFacts
  readonly channelId: string | undefined
  readonly agents: ReadonlyArray<ProvisionedAgent>
  readonly names: Names
  /** How everybody was called who said something. */
  readonly people: People
  /** Messages, their edits and deletions, in order of first sight. */
  readonly messages: ReadonlyArray<NostrEvent>
  /** Phases that had begun and not ended, the last one last. */
  readonly open: ReadonlyArray<Phase>
  /** Milliseconds since the epoch. */
  readonly endedAt: number
}

type EventOf<Tag extends TrialEvent["_tag"]> = Extract<TrialEvent, { readonly _tag: Tag }>

/** The facts; an agent is in the last state that was told of it. */
export const lastWords = (read: ReadonlyArray<ReadEvent>): LastWords => {
  const events = read.map(({ event }) => event)
  const all = <Tag extends TrialEvent["_tag"]>(tag: Tag) =>
    events.filter((event): event is EventOf<Tag> => event._tag === tag)
  const last = <Tag extends TrialEvent["_tag"]>(tag: Tag) => all(tag).at(-1)
  const provisioned = last("Provisioned")
  const names = namesOf(provisioned)
  const seen = all("MessageSeen")
  const messages = seen.map(({ event }) => event)
  const outcome = last("OutcomeDecided")
  const lead = provisioned?.agents.find(({ kind }) => kind === "orchestrator")?.pubkey
  const task = messages.find(({ pubkey }) => pubkey === provisioned?.user.pubkey)
  const done = messages.find(({ content, pubkey }) => pubkey === lead && content.startsWith("DONE:"))
  const swept = last("Swept")
  const installed = last("StackInstalled")
  const { open, phases } = phasesOf(read)
  return {
    facts: {
      startedAt: events[0]?.at ?? 0,
      phases,
      warnings: all("Warned").map(({ detail }) => detail),
      cleanup: all("StepEnded").map(({ error, millis, step }) => ({
        step,
        seconds: millis / 1000,
        error: error ?? null
      })),
      agents: (provisioned?.agents ?? []).map((agent) => agentSummary(agent, all("AgentChanged"))),
      messageCount: messages.length,
      ...(outcome === undefined ? {} : { outcome: { outcome: outcome.outcome, detail: outcome.detail } }),
      ...(task === undefined ? {} : { taskEvent: task }),
      ...(outcome?.outcome === "done" && done !== undefined ? { completion: done } : {}),
      ...(swept === undefined ? {} : { sweep: { survivors: swept.survivors, spared: swept.spared } }),
      ...(installed === undefined ? {} : { stack: { digests: installed.digests } })
    },
    channelId: provisioned?.channelId,
    agents: provisioned?.agents ?? [],
    names,
    people: new Map(seen.map(({ author, event }) => [event.pubkey, author])),
    messages,
    open,
    endedAt: events.at(-1)?.at ?? 0
  }
}

const namesOf = (provisioned: EventOf<"Provisioned"> | undefined): Names =>
  new Map(
    provisioned === undefined
      ? []
      : [
          [provisioned.user.pubkey, { name: provisioned.user.name, role: "user" }],
          ...provisioned.agents.map(({ agentId, kind, pubkey }) => [pubkey, { name: agentId, role: kind }] as const)
        ]
  )

/** A phase that did not end took until the last that is known. */
const phasesOf = (read: ReadonlyArray<ReadEvent>) => {
  const begun = new Map<Phase, ReadEvent>()
  const phases = read.flatMap(({ event }) => {
    if (event._tag === "PhaseStarted") begun.set(event.phase, { event, elapsed: 0 })
    if (event._tag !== "PhaseEnded") return []
    const { error, millis, phase } = event
    const start = begun.get(phase)?.event.at ?? event.at - millis
    begun.delete(phase)
    return [{ phase, started_at: new Date(start).toISOString(), seconds: millis / 1000, error: error ?? null }]
  })
  const endedAt = read.at(-1)?.event.at ?? 0
  const broken = [...begun].map(([phase, { event }]) => ({
    phase,
    started_at: new Date(event.at).toISOString(),
    seconds: (endedAt - event.at) / 1000,
    error: "the harness ended in it"
  }))
  return { phases: [...phases, ...broken], open: [...begun.keys()] }
}

const agentSummary = (
  { agentId, endpoint, kind, pubkey, role }: ProvisionedAgent,
  changes: ReadonlyArray<EventOf<"AgentChanged">>
): AgentSummary => {
  const views = changes.filter((change) => change.agentId === agentId).map(({ view }) => view)
  const turns = views.filter((view) => view._tag === "InTurn").length
  const view = views.at(-1)
  return {
    agent_id: agentId,
    kind,
    role,
    endpoint,
    pubkey,
    system_prompt: promptName(agentId),
    state: view === undefined ? "not-launched" : STATES[view._tag],
    turns_started: turns,
    turns_ended: turns - (view?._tag === "InTurn" ? 1 : 0),
    measurement: null,
    input_tokens: null,
    output_tokens: null,
    cached_tokens: null,
    cost_usd: null
  }
}

const STATES: Readonly<Record<AgentView["_tag"], string>> = {
  Starting: "starting",
  Ready: "ready",
  InTurn: "in-turn",
  Idle: "idle",
  Requeued: "requeued",
  Dead: "dead"
}
