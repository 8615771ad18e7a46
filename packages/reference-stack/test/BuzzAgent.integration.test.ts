// @module-tag thorough
import { buzzAgent } from "@buzz-orchestra/reference-stack/buzz-agent/BuzzAgent"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer } from "effect"
import * as Agent from "./agent.ts"
import * as Programs from "./programs.ts"
import * as Answers from "./providerAnswers.ts"

const PLAYBOOK = `
agents:
  writer-1:
    - when: write
      steps:
        - say: I write it.
        - usage: { input: 100, output: 10, cached: 5 }
        - shell: printf 'Hello {from}' > hello.txt; cat hello.txt; echo $BUZZ_PRIVATE_KEY [$SCRIPTED_API_KEY]
        - expect: "Hello ${"b".repeat(64)}"
        - usage: { input: 200, output: 1 }
        - stop: end_turn
    - { when: second, steps: [{ shell: echo no }, { expect: "yes" }] }
    - { when: third, steps: [{ shell: "echo {member:nobody}" }] }
  patient-1:
    - steps: [{ hang: until_cancelled }]
    - steps: [{ stop: refusal }]
  failing-1:
    - { steps: [{ error: overloaded }] }
  mute-1: []
  stubborn-1:
    - { when: mask, steps: [{ ignore_term: true }] }
    - { when: still, steps: [{ stop: end_turn }] }
    - { when: die, steps: [{ crash: true }] }
`

/** One agent for the sessions of every test that can share it. */
class Shared extends Context.Service<Shared, Effect.Success<ReturnType<typeof Agent.start>>>()("test/Shared") {
  static readonly layer = Layer.effect(Shared, Effect.flatMap(Agent.playing(PLAYBOOK), Agent.start))
}

const TestLayer = Layer.provideMerge(Shared.layer, Programs.layer)

const system = (name: string) =>
  `[System]\nYou are \`${name}\` (pubkey \`aa\`), working in channel \`C\` for user \`ada\` (pubkey \`bb\`).`

const first = (name: string, prompt = "x") => `${system(name)}\n\n[Context]\nScope: channel\n\n${prompt}`

/** An MCP server whose one tool does not return what it promises. */
const TYPED_SERVER = `
answer() { echo "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":\${id%%[!0-9]*},\\"result\\":$1}"; }
while read -r line; do
  id=\${line#*'"id":'}
  case $line in
    *'"initialize"'*)
      answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"0"}}' ;;
    *'"tools/list"'*)
      schema='{"type":"object","properties":{"n":{"type":"integer"}}}'
      answer '{"tools":[{"name":"shell","inputSchema":{"type":"object"},"outputSchema":'"$schema"'}]}' ;;
    *'"tools/call"'*)
      answer '{"content":[],"structuredContent":{"n":"none"}}' ;;
  esac
done
`

/** For one test after the other. */
const IN_ORDER = { ...Programs.SLOW, concurrent: false }

layer(TestLayer, { excludeTestServices: true, timeout: Programs.SLOW.timeout })("buzz-agent", (it) => {
  it.effect(
    "plays a turn: text, a tool call through the MCP server, usage after every response; and fails as a provider does",
    () =>
      Effect.gen(function* () {
        const { session, usage } = yield* Shared
        const { cwd, prompt, sessionId, updates } = yield* session("with tools")
        assert.match(sessionId, /^ses_[0-9a-f]{16}$/)
        const event = `[Buzz event: @mention]\nEvent ID: ${"e".repeat(64)}\nChannel: c (#11111111-1111-4111-8111-111111111111)\nKind: 9\nFrom: Ada (npub: n, hex: ${"b".repeat(64)})\nContent: write`
        assert.strictEqual((yield* prompt(first("writer-1", event))).stopReason, "end_turn")
        assert.deepStrictEqual(usage.splice(0), [
          [100, 10, 5],
          [300, 11, 5]
        ])
        assert.deepStrictEqual(
          updates().map((update) => [update.sessionUpdate, "status" in update ? update.status : undefined]),
          [
            ["agent_message_chunk", undefined],
            ["tool_call", "pending"],
            ["tool_call_update", "in_progress"],
            ["tool_call_update", "completed"]
          ]
        )
        const call = updates()[1]
        assert.strictEqual(call?.sessionUpdate === "tool_call" ? call.title : undefined, "buzz-dev-mcp__shell")
        const fileSystem = yield* FileSystem.FileSystem
        assert.strictEqual(yield* fileSystem.readFileString(`${cwd}/hello.txt`), `Hello ${"b".repeat(64)}`)
        assert.include(JSON.stringify(updates()[3]), "from-session []")
        assert.include((yield* Effect.flip(prompt("second"))).message, 'expected "yes"')
        assert.include((yield* Effect.flip(prompt("third"))).message, "no value for {member:nobody}")
      }),
    IN_ORDER
  )

  it.effect(
    "holds the tools of another server to the schemas that it gave for their results",
    () =>
      Effect.gen(function* () {
        const { session } = yield* Shared
        const { prompt } = yield* session({ name: "typed", command: "sh", args: ["-c", TYPED_SERVER], env: [] })
        const failed = yield* Effect.flip(prompt(first("writer-1", "second")))
        assert.include(failed.message, "mcp: shell: ")
        assert.include(failed.message, "data/n must be integer")
      }),
    IN_ORDER
  )

  it.effect(
    "answers a cancel, refuses a second prompt meanwhile, and keeps the session",
    () =>
      Effect.gen(function* () {
        const { session } = yield* Shared
        const { cancel, prompt } = yield* session("without tools")
        const running = yield* Effect.forkChild(prompt(first("patient-1")), { startImmediately: true })
        const refused = yield* Effect.flip(prompt("again"))
        assert.include(refused.message, "prompt already in flight")
        yield* cancel
        assert.strictEqual((yield* Programs.joined(running)).stopReason, "cancelled")
        // The system prompt is remembered: the second prompt does not repeat it.
        assert.strictEqual((yield* prompt("next")).stopReason, "refusal")
      }),
    IN_ORDER
  )

  it.effect(
    "answers errors with their codes, and says in its log when the playbook has no turn for a prompt",
    () =>
      Effect.gen(function* () {
        const { log, session, usage } = yield* Shared
        const { prompt, updates } = yield* session("without tools")
        const failed = yield* Effect.flip(prompt(first("failing-1")))
        assert.strictEqual("code" in failed ? failed.code : undefined, -32_000)
        assert.strictEqual(failed.message, "llm: overloaded")
        assert.include((yield* Effect.flip(prompt(first("other-1")))).message, "no agent other-1")
        const mute = yield* session("without tools")
        usage.splice(0)
        assert.strictEqual((yield* mute.prompt(first("mute-1"))).stopReason, "end_turn")
        assert.deepStrictEqual(updates(), [])
        assert.deepStrictEqual(usage.splice(0), [[Math.ceil(first("mute-1").length / 4), 0, 0]])
        yield* log.awaitOutput("WARN buzz_agent: the playbook has no turn left for this prompt agent=mute-1\n")
        assert.notInclude(log.output(), "secret-key")
      }),
    IN_ORDER
  )

  it.effect(
    "outlives SIGTERM only when the playbook says so, and dies without an answer when it says that",
    () =>
      Effect.gen(function* () {
        const { handle, session } = yield* Shared
        const { prompt } = yield* session("without tools")
        yield* prompt(first("stubborn-1", "mask"))
        process.kill(handle.pid, "SIGTERM")
        assert.strictEqual((yield* prompt("still there?")).stopReason, "end_turn")
        yield* Effect.flip(prompt("die"))
        assert.strictEqual(yield* Effect.timeout(handle.exitCode, "10 seconds"), 101)
      }),
    IN_ORDER
  )
})

layer(Programs.layer, { excludeTestServices: true })("buzz-agent, on its own", (it) => {
  it.effect(
    "speaks with a provider over HTTP: its tools, a call, the result, and what all of it cost; then ends with its stdin",
    () =>
      Effect.gen(function* () {
        const [said, call] = Answers.messages.call.content
        const shell = {
          ...call,
          name: "buzz-dev-mcp__shell",
          input: { command: "echo $PPID; echo [$ANTHROPIC_API_KEY]" }
        }
        const { requests, url } = yield* Answers.serve([
          { ...Answers.messages.call, content: [said, shell] },
          Answers.messages.end
        ])
        const { endInput, handle, log, session, usage } = yield* Agent.start({
          BUZZ_AGENT_PROVIDER: "anthropic",
          ANTHROPIC_API_KEY: "sk-secret",
          ANTHROPIC_BASE_URL: url,
          BUZZ_AGENT_MODEL: "claude-test"
        })
        const { prompt, updates } = yield* session("with tools")
        assert.strictEqual((yield* prompt(first("solo-1", "go"))).stopReason, "end_turn")
        assert.deepStrictEqual(usage, [
          [2095, 89, 2000],
          [2195, 96, 2000]
        ])
        assert.deepStrictEqual(
          updates().flatMap((update) =>
            update.sessionUpdate === "agent_message_chunk" && update.content.type === "text"
              ? [update.content.text]
              : []
          ),
          ["I'll look.", "Done."]
        )
        assert.deepStrictEqual(
          requests.map((request) => [request.url, request.headers["x-api-key"], request.body.model]),
          [
            ["/v1/messages", "sk-secret", "claude-test"],
            ["/v1/messages", "sk-secret", "claude-test"]
          ]
        )
        const body = requests[1]?.body
        assert.strictEqual(body.system, system("solo-1"))
        assert.deepStrictEqual(
          body.tools.map((tool: { name: string }) => tool.name),
          ["shell", "read_file", "str_replace", "todo"].map((name) => `buzz-dev-mcp__${name}`)
        )
        const [result] = body.messages[2].content
        assert.deepStrictEqual([result.tool_use_id, result.is_error], ["toolu_01", false])
        const { stdout } = JSON.parse(result.content[0].text)
        // The provider's key is not for the model's commands.
        const [mcp, key] = stdout.split("\n")
        assert.strictEqual(key, "[]")
        yield* log.awaitOutput("buzz-agent starting: provider=anthropic model=claude-test")
        assert.notInclude(log.output(), "sk-secret")

        yield* endInput
        assert.strictEqual(yield* Effect.timeout(handle.exitCode, "10 seconds"), 0)
        assert.isTrue(yield* Programs.gone(Number(mcp)))
      }),
    Programs.SLOW
  )

  it.effect(
    "is ended by SIGTERM",
    () =>
      Effect.gen(function* () {
        const ordinary = yield* Effect.flatMap(Agent.playing("agents: {}"), Agent.start)
        process.kill(ordinary.handle.pid, "SIGTERM")
        const exit = yield* Effect.exit(Effect.timeout(ordinary.handle.exitCode, "10 seconds"))
        assert.include(String(exit), "SIGTERM")
      }),
    Programs.SLOW
  )

  it.effect(
    "ends with code 2 and one line when its configuration is wrong",
    () =>
      Effect.gen(function* () {
        const cases: ReadonlyArray<readonly [Record<string, string>, string]> = [
          [{ BUZZ_AGENT_PROVIDER: "databricks" }, "ERROR buzz_agent: config: BUZZ_AGENT_PROVIDER=databricks"],
          [
            { BUZZ_AGENT_PROVIDER: "scripted", SCRIPTED_API_KEY: "k", SCRIPTED_PLAYBOOK: "/none.yaml" },
            "config: cannot read SCRIPTED_PLAYBOOK /none.yaml"
          ]
        ]
        for (const [env, text] of cases) {
          const exit = yield* Effect.flip(buzzAgent(env))
          assert.strictEqual(exit.code, 2)
          assert.include(exit.stderr, text)
          assert.notInclude(exit.stderr, "\n")
        }
      }),
    Programs.SLOW
  )
})
