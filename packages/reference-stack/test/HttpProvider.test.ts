import * as AgentConfig from "@buzz-orchestra/reference-stack/buzz-agent/AgentConfig"
import * as AgentFailed from "@buzz-orchestra/reference-stack/buzz-agent/AgentFailed"
import * as AgentSession from "@buzz-orchestra/reference-stack/buzz-agent/AgentSession"
import * as HttpProvider from "@buzz-orchestra/reference-stack/buzz-agent/HttpProvider"
import type { Question } from "@buzz-orchestra/reference-stack/buzz-agent/Model"
import type { ModelReply } from "@buzz-orchestra/reference-stack/buzz-agent/ModelApi"
import type { Toolbox } from "@buzz-orchestra/reference-stack/buzz-agent/Toolbox"
import { TracingLog } from "@buzz-orchestra/reference-stack/TracingLog"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"

const { limits } = Result.getOrThrow(
  AgentConfig.parse({ BUZZ_AGENT_PROVIDER: "scripted", SCRIPTED_API_KEY: "k", SCRIPTED_PLAYBOOK: "/p" })
)

const reply = (fields: Partial<ModelReply> = {}): ModelReply => ({
  text: "",
  calls: [],
  stop: "end_turn",
  usage: undefined,
  native: undefined,
  ...fields
})

const call = (id: string, command: string) => ({ id, name: "dev__shell", args: { command } })

/** What a model does when it is asked: answers, fails, or thinks for so many milliseconds before it answers. */
type Act = ModelReply | AgentFailed.AgentFailed | readonly [millis: number, reply: ModelReply]

/** A session whose model does these things in turn, what it was asked, and what the client was told. */
const session = Effect.fnUntraced(function* (
  acts: ReadonlyArray<Act>,
  options: { readonly limits?: Partial<AgentConfig.ModelLimits>; readonly maxRounds?: number } = {}
) {
  const asked: Array<Question> = []
  const happened: Array<string> = []
  const note = (text: string) => Effect.sync(() => void happened.push(text))
  const model = {
    ask: (question: Question) =>
      Effect.gen(function* () {
        const act = acts[asked.length] ?? (yield* Effect.die("asked once more than expected"))
        asked.push(question)
        if (act instanceof AgentFailed.AgentFailed) return yield* act
        if ("text" in act) return act
        yield* Effect.sleep(act[0])
        return act[1]
      })
  }
  const provider = yield* HttpProvider.ofModel(model, { ...limits, ...options.limits }).pipe(
    Effect.provide(
      TracingLog.layerWith({
        filter: [{ target: "", level: "INFO" }],
        ansi: false,
        write: (line) => void happened.push(line.replace(/^\S+ +/, "").trim())
      })
    )
  )
  const toolbox: Toolbox = {
    tools: [{ name: "dev__shell", description: "d", inputSchema: {} }],
    find: () => undefined,
    call: (_, { command }) =>
      command === "hang"
        ? Effect.never
        : command === "gone"
          ? Effect.fail(AgentFailed.mcp("dev: no answer"))
          : Effect.succeed({ text: `ran ${String(command)}`, isError: command === "false" })
  }
  const one = AgentSession.make({
    provider,
    maxRounds: options.maxRounds ?? 0,
    systemPrompt: "configured",
    toolbox,
    client: {
      say: (text) => note(`say ${text}`),
      toolStarted: ({ id, title }) => note(`started ${id} ${title}`),
      toolEnded: ({ id, isError, text }) => note(`${isError ? "failed" : "ended"} ${id} ${text}`),
      usage: ({ cached, input, output }) => note(`usage ${input} ${output} ${cached}`),
      keepAlive: note("alive")
    },
    faults: { crash: Effect.never, ignoreTerm: Effect.void }
  })
  /** What the history held at the last question. */
  const lastHistory = () =>
    (asked.at(-1)?.history ?? []).map((item) => (item._tag === "Prompt" ? item.text : item._tag))
  return { one, asked, happened, lastHistory }
})

it.effect("runs calls and brings their results back until the model is done, and adds the tokens up", () =>
  Effect.gen(function* () {
    const { asked, happened, one } = yield* session([
      reply({
        text: "On it.",
        calls: [call("1", "ls")],
        stop: "tool_use",
        usage: { input: 100, output: 10, cached: 4 }
      }),
      reply({ text: "Done.", usage: { input: 150, output: 5, cached: 90 } })
    ])
    assert.strictEqual(yield* one.prompt("go"), "end_turn")
    assert.deepStrictEqual(happened, [
      "say On it.",
      "usage 100 10 4",
      "started 1 dev__shell",
      "ended 1 ran ls",
      "say Done.",
      "usage 250 15 94"
    ])
    assert.deepStrictEqual(
      asked.map(({ system, tools }) => [system, tools.length]),
      [
        ["configured", 1],
        ["configured", 1]
      ]
    )
    assert.deepStrictEqual(asked[1]?.history.slice(-1), [
      { _tag: "Results", results: [{ id: "1", text: "ran ls", isError: false }] }
    ])
  })
)

it.effect("takes the system prompt from the first prompt, and keeps it", () =>
  Effect.gen(function* () {
    const { asked, lastHistory, one } = yield* session([reply({ text: "a" }), reply({ text: "b" })])
    yield* one.prompt("[System]\nYou are brief.\n\n[Context]\nScope: channel")
    yield* one.prompt("[Context]\nScope: thread")
    assert.deepStrictEqual(
      asked.map(({ system }) => system),
      ["[System]\nYou are brief.", "[System]\nYou are brief."]
    )
    assert.deepStrictEqual(lastHistory(), ["[Context]\nScope: channel", "Reply", "[Context]\nScope: thread"])
  })
)

it.effect("gives failed calls back to the model with a word on what to do, and cuts long results", () =>
  Effect.gen(function* () {
    const calls = [call("1", "false"), call("2", "gone"), call("3", "x".repeat(2000))]
    const { asked, one } = yield* session([reply({ calls }), reply()], { limits: { maxResultBytes: 1024 } })
    yield* one.prompt("go")
    const last = asked[1]?.history.at(-1)
    const results = last?._tag === "Results" ? last.results : []
    assert.deepStrictEqual(
      results.map(({ id, isError }) => [id, isError]),
      [
        ["1", true],
        ["2", true],
        ["3", false]
      ]
    )
    assert.match(results[0]?.text ?? "", /^ran false\n\n\[Reflect\] /)
    assert.match(results[1]?.text ?? "", /^mcp: dev: no answer\n\n\[Reflect\] /)
    assert.match(results[2]?.text ?? "", /^ran x{1020}\n\[truncated: 2004 bytes\]$/)
  })
)

it.effect("ends as the model says, as the rounds say, and fails where the provider contradicts itself", () =>
  Effect.gen(function* () {
    for (const stop of ["max_tokens", "refusal"] as const)
      assert.strictEqual(yield* (yield* session([reply({ stop })])).one.prompt("go"), stop)
    const loop = yield* session([reply({ calls: [call("1", "a")] }), reply({ calls: [call("2", "b")] })], {
      maxRounds: 2
    })
    assert.strictEqual(yield* loop.one.prompt("go"), "max_turn_requests")
    assert.include(loop.happened, "ended 2 ran b")
    const empty = yield* session([reply({ stop: "tool_use" })])
    assert.strictEqual(
      (yield* Effect.flip(empty.one.prompt("go"))).message,
      "llm: provider: stop=tool_use but zero tool_calls"
    )
    const many = yield* session([reply({ calls: Array.from({ length: 65 }, (_, index) => call(`${index}`, "ls")) })])
    assert.include((yield* Effect.flip(many.one.prompt("go"))).message, "65 tool calls in one response")
  })
)

it.effect("forgets a prompt that got no response, since the client sends it again", () =>
  Effect.gen(function* () {
    const { lastHistory, one } = yield* session([
      AgentFailed.llm("provider: status 529: Overloaded"),
      reply({ text: "a" }),
      [1000, reply()],
      reply()
    ])
    yield* Effect.flip(one.prompt("first"))
    yield* one.prompt("first")
    assert.deepStrictEqual(lastHistory(), ["first"])
    const cancelled = yield* Effect.forkChild(one.prompt("second"), { startImmediately: true })
    yield* one.cancel
    assert.strictEqual(yield* Fiber.join(cancelled), "cancelled")
    yield* one.prompt("third")
    assert.deepStrictEqual(lastHistory(), ["first", "Reply", "third"])
  })
)

it.effect("keeps calls that were cancelled with a result each: without one no provider would go on", () =>
  Effect.gen(function* () {
    const { asked, one } = yield* session([reply({ calls: [call("1", "ls"), call("2", "hang")] }), reply()])
    const cancelled = yield* Effect.forkChild(one.prompt("go"), { startImmediately: true })
    yield* one.cancel
    assert.strictEqual(yield* Fiber.join(cancelled), "cancelled")
    yield* one.prompt("next")
    const results = asked[1]?.history[2]
    assert.deepStrictEqual(results?._tag === "Results" ? results.results.map(({ id, isError }) => [id, isError]) : [], [
      ["1", true],
      ["2", true]
    ])
  })
)

it.effect("says that it is alive while a model thinks", () =>
  Effect.gen(function* () {
    const { happened, one } = yield* session([[65_000, reply({ text: "a" })]])
    const answer = yield* Effect.forkChild(one.prompt("go"), { startImmediately: true })
    yield* TestClock.adjust("65 seconds")
    assert.strictEqual(yield* Fiber.join(answer), "end_turn")
    assert.deepStrictEqual(happened, ["alive", "alive", "say a"])
  })
)

it.effect("hands a history that fills the window over to itself, and cuts it when no handover is left", () =>
  Effect.gen(function* () {
    const full = { input: 900, output: 1, cached: 0 }
    const { asked, happened, lastHistory, one } = yield* session(
      [
        reply({ text: "a", calls: [call("1", "ls")], usage: full }),
        reply({ text: "What matters." }),
        reply({ text: "b", usage: full }),
        reply({ text: "c" })
      ],
      { limits: { maxContextTokens: 1000, maxOutputTokens: 50, maxHandoffs: 1 } }
    )
    yield* one.prompt("the task")
    const summary = asked[1]
    assert.deepStrictEqual(summary?.tools, [])
    const [transcript] = summary?.history ?? []
    assert.match(
      transcript?._tag === "Prompt" ? transcript.text : "",
      /^\[Prompt\]\nthe task\n\n\[You\]\na\n\[Call\] dev__shell \{"command":"ls"\}\n\n\[Result\]\nran ls\n\nWrite down/
    )
    assert.deepStrictEqual(lastHistory(), ["[Summary of your work so far]\nWhat matters.", "the task"])
    const line = happened.find((text) => text.includes("handoff"))
    assert.match(line ?? "", /^INFO buzz_agent: handoff #1 \(history 3 -> 2 items; 900 -> \d+ tokens\)$/)
    // What the summary cost is no response of the session.
    assert.strictEqual(happened.filter((text) => text.startsWith("usage")).at(-1), "usage 1800 2 0")

    yield* one.prompt("more")
    assert.deepStrictEqual(lastHistory(), ["the task", "Reply", "more"])
    assert.include(happened.join("\n"), "no handoff is left or none came: history truncated (history 4 -> 3 items)")
  })
)
