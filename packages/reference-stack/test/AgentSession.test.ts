import * as AgentSession from "@buzz-orchestra/reference-stack/buzz-agent/AgentSession"
import * as Playbook from "@buzz-orchestra/reference-stack/buzz-agent/Playbook"
import * as ScriptedProvider from "@buzz-orchestra/reference-stack/buzz-agent/ScriptedProvider"
import type { Toolbox } from "@buzz-orchestra/reference-stack/buzz-agent/Toolbox"
import { TracingLog } from "@buzz-orchestra/reference-stack/TracingLog"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem, Layer, Result } from "effect"
import { TestClock } from "effect/testing"

const SYSTEM = "You are `solo-1` (pubkey `aa`)"

/** A session over a toolbox whose shell answers with the command itself, and a list of what happened. */
const session = Effect.fnUntraced(function* (steps: string, maxRounds = 0) {
  const happened: Array<string> = []
  const note = (text: string) => Effect.sync(() => void happened.push(text))
  const toolbox: Toolbox = {
    tools: [],
    find: (tool) => (tool === "read_file" ? undefined : `mcp__${tool}`),
    call: (name, args) =>
      name === "mcp__shell"
        ? Effect.as(note(`call ${name}`), { text: `ran ${String(args["command"])}`, isError: false })
        : Effect.as(note(`call ${name} ${JSON.stringify(args)}`), { text: "", isError: false })
  }
  const playbook = Result.getOrThrow(Playbook.parse(`agents: { solo-1: [{ repeat: true, steps: ${steps} }] }`))
  const provider = yield* ScriptedProvider.make(playbook).pipe(
    Effect.provide(
      Layer.merge(
        FileSystem.layerNoop({ exists: () => Effect.succeed(false) }),
        TracingLog.layerWith({ filter: [], ansi: false, write: () => {} })
      )
    )
  )
  const one = AgentSession.make({
    provider,
    maxRounds,
    systemPrompt: SYSTEM,
    toolbox,
    client: {
      say: (text) => note(`say ${text}`),
      toolStarted: ({ id, title }) => note(`started ${id} ${title}`),
      toolEnded: ({ id, text }) => note(`ended ${id} ${text}`),
      usage: ({ cached, input, output }) => note(`usage ${input} ${output} ${cached}`),
      keepAlive: Effect.void
    },
    faults: { crash: Effect.die("crashed"), ignoreTerm: note("ignores TERM") }
  })
  return { one, happened }
})

it.effect("tells text, cost and calls in the order in which a model answers, and adds costs up", () =>
  Effect.gen(function* () {
    const { happened, one } = yield* session(
      "[{ say: a }, { ignore_term: true }, { usage: { input: 10, output: 2 } }, { shell: ls }, { expect: ran ls }, { usage: { input: 20, output: 3, cached: 4 } }, { stop: max_tokens }]"
    )
    assert.strictEqual(yield* one.prompt("go"), "max_tokens")
    assert.deepStrictEqual(happened, [
      "say a",
      "ignores TERM",
      "usage 10 2 0",
      "started call_1 mcp__shell",
      "call mcp__shell",
      "ended call_1 ran ls",
      "usage 30 5 4"
    ])
  })
)

it.effect("edits files and keeps lists through their tools, each call a response of its own", () =>
  Effect.gen(function* () {
    const { happened, one } = yield* session(
      '[{ str_replace: { path: a, old_str: "{self}", new_str: b } }, { todo: [{ text: t, done: true }] }]'
    )
    assert.strictEqual(yield* one.prompt("go"), "end_turn")
    assert.deepStrictEqual(
      happened.filter((text) => text.startsWith("call")),
      [
        'call mcp__str_replace {"path":"a","old_str":"aa","new_str":"b"}',
        'call mcp__todo {"todos":[{"text":"t","done":true}]}'
      ]
    )
    assert.lengthOf(
      happened.filter((text) => text.startsWith("usage")),
      3
    )
  })
)

it.effect("counts what it has read and said when no cost is given", () =>
  Effect.gen(function* () {
    const { happened, one } = yield* session("[{ say: abcd }]")
    yield* one.prompt("x".repeat(100))
    const length = SYSTEM.length + 100 + 4
    assert.deepStrictEqual(happened, ["say abcd", `usage ${Math.ceil(length / 4)} 4 0`])
  })
)

it.effect("thinks as long as it is told to, unless it is cancelled", () =>
  Effect.gen(function* () {
    const { happened, one } = yield* session("[{ wait_ms: 5000 }, { say: done }]")
    const first = yield* Effect.forkChild(one.prompt("x"), { startImmediately: true })
    yield* TestClock.adjust("4999 millis")
    assert.deepStrictEqual(happened, [])
    yield* TestClock.adjust("1 millis")
    assert.strictEqual(yield* Fiber.join(first), "end_turn")
    const second = yield* Effect.forkChild(one.prompt("x"), { startImmediately: true })
    yield* TestClock.adjust("1 second")
    yield* one.cancel
    assert.strictEqual(yield* Fiber.join(second), "cancelled")
    assert.strictEqual(happened.filter((text) => text === "say done").length, 1)
  })
)

it.effect("stops after the allowed number of responses, and refuses a second prompt meanwhile", () =>
  Effect.gen(function* () {
    const { one } = yield* session('[{ shell: "1" }, { wait_ms: 1000 }, { shell: "2" }, { say: never }]', 2)
    const first = yield* Effect.forkChild(one.prompt("x"), { startImmediately: true })
    const refused = yield* Effect.flip(one.prompt("again"))
    assert.deepStrictEqual([refused.code, refused.message], [-32_602, "session/prompt: prompt already in flight"])
    yield* TestClock.adjust("1 second")
    assert.strictEqual(yield* Fiber.join(first), "max_turn_requests")
  })
)

it.effect("does not even answer a cancel when it hangs for ever", () =>
  Effect.gen(function* () {
    const { one } = yield* session("[{ hang: for_ever }]")
    const prompt = yield* Effect.forkChild(one.prompt("x"), { startImmediately: true })
    yield* one.cancel
    yield* TestClock.adjust("1 hour")
    assert.isUndefined(prompt.pollUnsafe())
    yield* Fiber.interrupt(prompt)
  })
)

it.effect("fails a step that needs a tool which no server has", () =>
  Effect.gen(function* () {
    const { one } = yield* session("[{ read_file: a.txt }]")
    assert.include((yield* Effect.flip(one.prompt("x"))).message, "no MCP server has the tool read_file")
  })
)
