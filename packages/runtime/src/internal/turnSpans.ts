/**
 * Turns of agents and their calls of tools as spans, made from what the logs tell while a trial runs. A span begins and ends
 * when the watch delivers the line: within a second of it.
 */
import { Clock, Effect, Exit, Ref, type Scope, type Tracer } from "effect"
import type { AgentSignal } from "../AgentSignal.ts"
import * as Usage from "../Usage.ts"

export interface TurnSpans {
  /** After a signal of an agent's log. */
  heard(agentId: string, signal: AgentSignal): Effect.Effect<void>
}

interface OpenTurn {
  readonly span: Tracer.Span
  /** When it ended, for a turn that still owes its usage; in nanoseconds. */
  readonly endedAt: bigint | undefined
  /** Calls that have not ended, oldest first: the log does not say which call an update is about. */
  readonly calls: ReadonlyArray<Tracer.Span>
  readonly hasReported: boolean
}

interface Agent {
  readonly turns: number
  readonly open: OpenTurn | undefined
  readonly usage: Usage.Usage
  /** Of all turns before the open one. */
  readonly before: Usage.Usage
}

const NEW: Agent = { turns: 0, open: undefined, usage: Usage.initial, before: Usage.initial }

/** No turn yet. Whatever is open when the scope closes ends with it. `parent` is the span of the trial. */
export const make = Effect.fnUntraced(function* (options: {
  readonly parent: Tracer.AnySpan | undefined
  readonly redact: (text: string) => string
}): Effect.fn.Return<TurnSpans, never, Scope.Scope> {
  const { parent, redact } = options
  const agents = yield* Ref.make<ReadonlyMap<string, Agent>>(new Map())

  const begin = Effect.fnUntraced(function* (agentId: string, agent: Agent) {
    if (agent.open !== undefined) yield* end(agent.open, "followed by another turn")
    const turns = agent.turns + 1
    const attributes = { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agentId, "buzz.turn": turns }
    const span = yield* Effect.makeSpan(`turn ${agentId}`, { ...under(parent), attributes })
    const open: OpenTurn = { span, endedAt: undefined, calls: [], hasReported: false }
    return { ...agent, turns, open, before: agent.usage }
  })

  const step = Effect.fnUntraced(function* (agentId: string, agent: Agent, signal: AgentSignal) {
    const now = yield* Clock.currentTimeNanos
    switch (signal._tag) {
      case "TurnStarted":
        return yield* begin(agentId, agent)
      case "TurnEnded":
        return yield* close(agent, signal.stop, now)
      case "TurnFailed":
        return yield* close(agent, redact(signal.detail), now)
      case "Usage":
        return yield* report({ ...agent, usage: Usage.record(agent.usage, signal) })
      case "ToolCalled": {
        const { open } = agent
        if (open === undefined || open.endedAt !== undefined) return agent
        const title = redact(signal.title)
        const attributes = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": title }
        const call = yield* Effect.makeSpan(`tool ${title}`, { parent: open.span, attributes })
        return { ...agent, open: { ...open, calls: [...open.calls, call] } }
      }
      case "ToolUpdated": {
        const [call, ...calls] = agent.open?.calls ?? []
        if (agent.open === undefined || call === undefined || !FINISHED.has(signal.status)) return agent
        call.attribute("buzz.tool.status", signal.status)
        call.end(now, Exit.void)
        return { ...agent, open: { ...agent.open, calls } }
      }
      default:
        return agent
    }
  })

  yield* Effect.addFinalizer(() =>
    Effect.flatMap(Ref.get(agents), (all) =>
      Effect.forEach(
        all.values(),
        ({ open }) => (open === undefined ? Effect.void : end(open, "ended with the trial")),
        {
          discard: true
        }
      )
    )
  )

  return {
    heard: Effect.fnUntraced(function* (agentId, signal) {
      const before = (yield* Ref.get(agents)).get(agentId) ?? NEW
      const after = yield* step(agentId, before, signal)
      if (after !== before) yield* Ref.update(agents, (all) => new Map([...all, [agentId, after]]))
    })
  }
})

const under = (span: Tracer.AnySpan | undefined) => (span === undefined ? { root: true } : { parent: span })

const FINISHED: ReadonlySet<string> = new Set(["completed", "failed"])

/** A turn that has reported is over; one that has not waits for its usage, and keeps the time of its end. */
const close = Effect.fnUntraced(function* (agent: Agent, stop: string, now: bigint) {
  const { open } = agent
  if (open === undefined || open.endedAt !== undefined) return agent
  open.span.attribute("buzz.turn.end", stop)
  for (const call of open.calls) call.end(now, Exit.void)
  const ended: OpenTurn = { ...open, endedAt: now, calls: [] }
  if (!open.hasReported) return { ...agent, open: ended }
  open.span.end(now, Exit.void)
  return { ...agent, open: undefined }
})

const report = Effect.fnUntraced(function* (agent: Agent) {
  const { before, open, usage } = agent
  const now = Usage.totals(usage)
  if (open === undefined || now === undefined) return agent
  const then = Usage.totals(before)
  open.span.attribute("gen_ai.usage.input_tokens", now.inputTokens - (then?.inputTokens ?? 0))
  open.span.attribute("gen_ai.usage.output_tokens", now.outputTokens - (then?.outputTokens ?? 0))
  if (now.cachedTokens !== undefined)
    open.span.attribute("gen_ai.usage.cache_read.input_tokens", now.cachedTokens - (then?.cachedTokens ?? 0))
  if (open.endedAt === undefined) return { ...agent, open: { ...open, hasReported: true } }
  open.span.end(open.endedAt, Exit.void)
  return { ...agent, open: undefined }
})

/** Ends what has not ended, `why` unless the log has said it. */
const end = Effect.fnUntraced(function* (open: OpenTurn, why: string) {
  const now = yield* Clock.currentTimeNanos
  if (open.endedAt === undefined) open.span.attribute("buzz.turn.end", why)
  for (const call of open.calls) call.end(now, Exit.void)
  open.span.end(open.endedAt ?? now, Exit.void)
})
