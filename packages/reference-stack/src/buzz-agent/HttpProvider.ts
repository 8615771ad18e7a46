/**
 * The providers whose model is behind HTTP: prompt, response, tool calls, results, and again, until the model is done.
 */
import { Effect } from "effect"
import { HttpPost } from "../HttpPost.ts"
import { TracingLog } from "../TracingLog.ts"
import type { ModelLimits } from "./AgentConfig.ts"
import * as AgentFailed from "./AgentFailed.ts"
import * as History from "./History.ts"
import * as Model from "./Model.ts"
import type { HistoryItem, ModelCall, ModelCallResult, ModelReply } from "./ModelApi.ts"
import type { StopReason } from "./Playbook.ts"
import type { Conversation, Provider, ProviderSession } from "./Provider.ts"
import type { HttpProviderConfig } from "./ProviderConfig.ts"
import * as Wake from "./Wake.ts"

/** Asks the model that `config` names. */
export const make = (config: HttpProviderConfig, limits: ModelLimits) =>
  Effect.flatMap(Model.make(config, limits), (model) => ofModel(model, limits)).pipe(Effect.provide(HttpPost.layer))

/** Asks `model`, each session with a history of its own. */
export const ofModel = (model: Model.Model, limits: ModelLimits): Effect.Effect<Provider, never, TracingLog> =>
  Effect.map(TracingLog, (log): Provider => (session) => {
    const state: State = {
      model,
      limits,
      session,
      log,
      system: session.systemPrompt === "" ? SYSTEM : session.systemPrompt,
      history: [],
      inputTokens: undefined,
      handoffs: 0
    }
    const conversation: Conversation = { answer: (text) => answer(state, text), isDeaf: () => false }
    return conversation
  })

/** For a client that sends no system prompt when there is none configured either. */
const SYSTEM = "You work with the tools that you have. What you say is read by nobody: to be heard, use a tool."

interface State {
  readonly model: Model.Model
  readonly limits: ModelLimits
  readonly session: ProviderSession
  readonly log: TracingLog["Service"]
  /** A client sends it once, with the first prompt. */
  system: string
  history: ReadonlyArray<HistoryItem>
  /** As the last response reported them. */
  inputTokens: number | undefined
  handoffs: number
}

/** Calls of one response beyond this number are a model that has lost itself. */
const MAX_CALLS = 64

const answer = (state: State, text: string): Effect.Effect<StopReason, AgentFailed.AgentFailed> => {
  const before = state.history
  const { system } = Wake.parse(text)
  if (system !== "") state.system = system.trim()
  const prompt: HistoryItem = { _tag: "Prompt", text: text.slice(system.length) }
  state.history = [...before, prompt]
  return rounds(state).pipe(
    // The client will send a prompt again that got no response at all; the model need not read it twice.
    Effect.onError(() =>
      Effect.sync(() => {
        if (state.history.at(-1) === prompt) state.history = before
      })
    )
  )
}

const rounds = Effect.fnUntraced(function* (state: State) {
  const { client, maxRounds, toolbox } = state.session
  for (let round = 1; ; round++) {
    if (maxRounds > 0 && round > maxRounds) return "max_turn_requests"
    yield* makeRoom(state)
    const reply = yield* ask(state, { system: state.system, history: state.history, tools: toolbox.tools })
    state.inputTokens = reply.usage?.input
    if (reply.text !== "") yield* client.say(reply.text)
    if (reply.usage !== undefined) yield* client.cost(reply.usage)
    if (reply.calls.length > MAX_CALLS)
      return yield* AgentFailed.llm(`provider: ${reply.calls.length} tool calls in one response (> ${MAX_CALLS})`)
    if (reply.calls.length > 0) yield* callAll(state, reply)
    else if (reply.stop === "tool_use") return yield* AgentFailed.llm("provider: stop=tool_use but zero tool_calls")
    else {
      // An empty message would be refused when it is sent back.
      if (reply.text !== "") state.history = [...state.history, { _tag: "Reply", reply }]
      return reply.stop
    }
  }
})

/** A client hears nothing else while a model thinks, and takes an agent that says nothing for dead. */
const KEEP_ALIVE = "30 seconds"

const ask = ({ model, session }: State, question: Model.Question) =>
  Effect.raceFirst(
    model.ask(question),
    Effect.forever(Effect.andThen(Effect.sleep(KEEP_ALIVE), session.client.keepAlive))
  )

/** Runs the calls of a reply. The history gets the reply and its results together: a call without one is refused for ever. */
const callAll = (state: State, reply: ModelReply): Effect.Effect<void> => {
  const remember = (results: ReadonlyArray<ModelCallResult>) =>
    Effect.sync(() => {
      state.history = [...state.history, { _tag: "Reply", reply }, { _tag: "Results", results }]
    })
  return Effect.forEach(reply.calls, (call) => callOne(state, call), {
    concurrency: state.limits.maxParallelTools
  }).pipe(
    Effect.onInterrupt(() => remember(reply.calls.map(({ id }) => ({ id, text: "[cancelled]", isError: true })))),
    Effect.flatMap(remember)
  )
}

const callOne = Effect.fnUntraced(function* ({ limits, session }: State, { args, id, name }: ModelCall) {
  const { client, toolbox } = session
  yield* client.toolStarted({ id, title: name, args })
  const result = yield* Effect.catchTag(toolbox.call(name, args), "AgentFailed", ({ detail }) =>
    Effect.succeed({ text: detail, isError: true })
  )
  yield* client.toolEnded({ id, ...result })
  const text = shortened(result.text, limits.maxResultBytes)
  return { id, text: result.isError ? `${text}${REFLECT}` : text, isError: result.isError }
})

const REFLECT = "\n\n[Reflect] This call failed. Find out why before you try again."

const shortened = (text: string, maxBytes: number): string => {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  return `${bytes.subarray(0, maxBytes).toString("utf8")}\n[truncated: ${bytes.length} bytes]`
}

/** Replaces a history that has become too long by what the model itself says of it. */
const makeRoom = Effect.fnUntraced(function* (state: State) {
  const { history, limits, log, system } = state
  const tokens = state.inputTokens ?? History.estimate(system, history)
  if (tokens < History.limit(limits) || history.length < 2) return
  const summary = state.handoffs < limits.maxHandoffs ? yield* summarize(state) : ""
  state.history = summary === "" ? History.truncated(history) : History.handedOver(history, summary)
  state.inputTokens = undefined
  const items = `history ${history.length} -> ${state.history.length} items`
  if (summary === "")
    return yield* log.log("WARN", "buzz_agent", `no handoff is left or none came: history truncated (${items})`)
  state.handoffs += 1
  const after = History.estimate(system, state.history)
  yield* log.log("INFO", "buzz_agent", `handoff #${state.handoffs} (${items}; ${tokens} -> ${after} tokens)`)
})

const summarize = (state: State) =>
  Effect.map(
    ask(state, {
      system: History.SUMMARY_SYSTEM,
      history: [{ _tag: "Prompt", text: `${History.transcript(state.history)}\n\n${History.SUMMARY_PROMPT}` }],
      tools: []
    }),
    ({ text }) => text.trim()
  )
