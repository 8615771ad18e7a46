/**
 * One prompt from its first response to its stop reason: does what `ScriptedModel` decided, and tells the client.
 */
import { Effect, Result } from "effect"
import * as AgentFailed from "./AgentFailed.ts"
import type { Step, StopReason, TOOL_STEPS, Turn } from "./Playbook.ts"
import type { ProcessFaults, TurnClient } from "./Provider.ts"
import * as ScriptedModel from "./ScriptedModel.ts"
import type { Toolbox } from "./Toolbox.ts"

/** What a turn needs of its session. */
export interface TurnContext {
  readonly client: TurnClient
  readonly toolbox: Toolbox
  readonly placeholders: ScriptedModel.Placeholders
  /** Responses allowed; 0 is no limit. */
  readonly maxRounds: number
  /** Characters of the conversation before this turn's first response. */
  readonly conversationLength: number
  /** Faults that concern the process, not the turn. */
  readonly faults: Faults
}

/** What a playbook may do to the agent that plays it. */
export interface Faults extends ProcessFaults {
  /** Cancels are not answered any more. */
  readonly goDeaf: Effect.Effect<void>
}

/** How a turn ended, and how long the conversation is now. */
export interface TurnEnd {
  readonly stopReason: StopReason
  readonly conversationLength: number
}

/** Plays `turn`; `undefined` is a model that has nothing to say, which is one empty response. Interruptible at any point. */
export const play = Effect.fn("AgentTurn.play")(function* (turn: Turn | undefined, context: TurnContext) {
  let length = context.conversationLength
  let lastResult = ""
  const responses = turn === undefined ? [[]] : ScriptedModel.responses(turn)
  for (const [index, response] of responses.entries()) {
    if (context.maxRounds > 0 && index >= context.maxRounds) return ended("max_turn_requests", length)
    for (const step of response) length += yield* perform(step, context, lastResult)
    yield* context.client.cost(ScriptedModel.cost(response, length))
    const last = response.at(-1)
    if (last?.stop !== undefined) return ended(last.stop, length)
    const call = last === undefined ? undefined : toolCall(last)
    if (call === undefined) continue
    lastResult = yield* callTool(call, `call_${index + 1}`, context)
    length += lastResult.length
  }
  return ended("end_turn", length)
})

const ended = (stopReason: StopReason, conversationLength: number): TurnEnd => ({ stopReason, conversationLength })

/** Does everything but calls and stops, which end a response. Returns the characters it added to the conversation. */
const perform = Effect.fnUntraced(function* (step: Step, context: TurnContext, lastResult: string) {
  const { client, faults } = context
  if (step.say !== undefined) {
    const said = yield* filled(step.say, context)
    yield* client.say(said)
    return said.length
  }
  if (step.wait_ms !== undefined) yield* Effect.sleep(step.wait_ms)
  if (step.expect !== undefined && !lastResult.includes(step.expect))
    return yield* AgentFailed.llm(`playbook: expected ${JSON.stringify(step.expect)} in ${JSON.stringify(lastResult)}`)
  if (step.error !== undefined) return yield* AgentFailed.llm(step.error)
  if (step.crash !== undefined) return yield* faults.crash
  if (step.ignore_term !== undefined) yield* faults.ignoreTerm
  if (step.hang === "for_ever") yield* faults.goDeaf
  if (step.hang !== undefined) return yield* Effect.never
  return 0
})

interface Call {
  readonly tool: (typeof TOOL_STEPS)[number]
  readonly args: Readonly<Record<string, unknown>>
}

const toolCall = (step: Step): Call | undefined => {
  if (step.shell !== undefined)
    return { tool: "shell", args: typeof step.shell === "string" ? { command: step.shell } : step.shell }
  if (step.read_file !== undefined)
    return { tool: "read_file", args: typeof step.read_file === "string" ? { path: step.read_file } : step.read_file }
  if (step.str_replace !== undefined) return { tool: "str_replace", args: step.str_replace }
  if (step.todo !== undefined) return { tool: "todo", args: { todos: step.todo } }
  return undefined
}

const callTool = Effect.fnUntraced(function* (call: Call, id: string, context: TurnContext) {
  const title = context.toolbox.find(call.tool)
  if (title === undefined) return yield* AgentFailed.llm(`playbook: no MCP server has the tool ${call.tool}`)
  const args: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(call.args))
    args[key] = typeof value === "string" ? yield* filled(value, context) : value
  yield* context.client.toolStarted({ id, title, args })
  const result = yield* context.toolbox.call(title, args)
  yield* context.client.toolEnded({ id, ...result })
  return result.text
})

const filled = (text: string, context: TurnContext): Effect.Effect<string, AgentFailed.AgentFailed> =>
  Result.match(ScriptedModel.fill(text, context.placeholders), {
    onSuccess: Effect.succeed,
    onFailure: (detail) => Effect.fail(AgentFailed.llm(`playbook: ${detail}`))
  })
