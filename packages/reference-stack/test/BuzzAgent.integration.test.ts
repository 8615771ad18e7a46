import * as acp from "@agentclientprotocol/sdk"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Schema, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { childPipes } from "../src/internal/childPipes.ts"
import * as Programs from "./programs.ts"

const SYSTEM = "You are `solo-1` (pubkey `aa`), working in channel `C` for user `ada` (pubkey `bb`)."

const Usage = Schema.Struct({
  update: Schema.Struct({
    sessionUpdate: Schema.Literal("usage_update"),
    accumulatedInputTokens: Schema.Int,
    accumulatedOutputTokens: Schema.Int,
    accumulatedCachedTokens: Schema.Int
  })
})

const decodeUsage = Schema.decodeUnknownSync(Usage)

const request = <A>(call: () => Promise<A>) =>
  Effect.tryPromise({ try: call, catch: (error) => error as acp.RequestError }).pipe(Effect.timeout("15 seconds"))

/** A running buzz-agent with a playbook, its ACP client, and everything it was told. */
const agent = (playbook: string, env: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const cwd = yield* fileSystem.makeTempDirectoryScoped({ prefix: "agent-test-" })
    yield* fileSystem.writeFileString(`${cwd}/playbook.yaml`, playbook)
    const command = yield* Programs.programPath("buzz-agent")
    const handle = yield* ChildProcess.make(command, [], {
      env: {
        ...Programs.BASE_ENVIRONMENT,
        BUZZ_AGENT_PROVIDER: "scripted",
        SCRIPTED_API_KEY: "secret-key",
        SCRIPTED_PLAYBOOK: `${cwd}/playbook.yaml`,
        ...env
      },
      killSignal: "SIGKILL"
    })
    const log: Array<string> = []
    yield* handle.stderr.pipe(
      Stream.decodeText(),
      Stream.runForEach((text) => Effect.sync(() => log.push(text))),
      Effect.forkScoped
    )
    const pipes = yield* childPipes(handle)
    const updates: Array<acp.SessionUpdate> = []
    const usage: Array<ReadonlyArray<number>> = []
    const connection = acp
      .client({ name: "test" })
      .onNotification("session/update", ({ params }) => void updates.push(params.update))
      .onNotification(
        "_goose/unstable/session/update",
        decodeUsage,
        ({ params: { update } }) =>
          void usage.push([
            update.accumulatedInputTokens,
            update.accumulatedOutputTokens,
            update.accumulatedCachedTokens
          ])
      )
      .connect(acp.ndJsonStream(pipes.writable, pipes.readable))
    yield* request(() =>
      connection.agent.request("initialize", { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} })
    )
    const newSession = request(() =>
      Programs.programDirectory.then((directory) =>
        connection.agent.request("session/new", {
          cwd,
          mcpServers: [
            {
              name: "buzz-dev-mcp",
              command: `${directory}/buzz-dev-mcp`,
              args: [],
              env: [{ name: "BUZZ_PRIVATE_KEY", value: "from-session" }]
            }
          ]
        })
      )
    )
    const prompt = (sessionId: string, text: string) =>
      request(() => connection.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] }))
    const cancel = (sessionId: string) => Effect.promise(() => connection.agent.notify("session/cancel", { sessionId }))
    return { cwd, handle, log, updates, usage, newSession, prompt, cancel, endInput: pipes.endInput }
  })

layer(Programs.layer, { excludeTestServices: true })("buzz-agent", (it) => {
  it.effect(
    "plays a turn: text, a tool call through the MCP server, usage after every response",
    () =>
      Effect.gen(function* () {
        const { cwd, newSession, prompt, updates, usage } = yield* agent(`
agents:
  solo-1:
    - when: write
      steps:
        - say: I write it.
        - usage: { input: 100, output: 10, cached: 5 }
        - shell: printf 'Hello {from}' > hello.txt; cat hello.txt; echo $BUZZ_PRIVATE_KEY [$SCRIPTED_API_KEY]
        - expect: "Hello ${"b".repeat(64)}"
        - usage: { input: 200, output: 1 }
        - stop: end_turn
`)
        const { sessionId } = yield* newSession
        assert.match(sessionId, /^ses_[0-9a-f]{16}$/)
        const event = `[Buzz event: @mention]\nEvent ID: ${"e".repeat(64)}\nChannel: c (#11111111-1111-4111-8111-111111111111)\nKind: 9\nFrom: Ada (npub: n, hex: ${"b".repeat(64)})\nContent: write`
        const answer = yield* prompt(sessionId, `[System]\n${SYSTEM}\n\n[Context]\nScope: channel\n\n${event}`)
        assert.strictEqual(answer.stopReason, "end_turn")
        assert.deepStrictEqual(usage, [
          [100, 10, 5],
          [300, 11, 5]
        ])
        assert.deepStrictEqual(
          updates.map((update) => [update.sessionUpdate, "status" in update ? update.status : undefined]),
          [
            ["agent_message_chunk", undefined],
            ["tool_call", "pending"],
            ["tool_call_update", "in_progress"],
            ["tool_call_update", "completed"]
          ]
        )
        const call = updates[1]
        assert.strictEqual(call?.sessionUpdate === "tool_call" ? call.title : undefined, "buzz-dev-mcp__shell")
        const fileSystem = yield* FileSystem.FileSystem
        assert.strictEqual(yield* fileSystem.readFileString(`${cwd}/hello.txt`), `Hello ${"b".repeat(64)}`)
        assert.include(JSON.stringify(updates[3]), "from-session []")
      }),
    Programs.SLOW
  )

  it.effect(
    "answers a cancel, refuses a second prompt meanwhile, and keeps the session",
    () =>
      Effect.gen(function* () {
        const { cancel, newSession, prompt } = yield* agent(`
agents:
  solo-1:
    - steps: [{ hang: until_cancelled }]
    - steps: [{ stop: refusal }]
`)
        const { sessionId } = yield* newSession
        const running = yield* Effect.forkChild(prompt(sessionId, `[System]\n${SYSTEM}\n\n[Context]\nx`), {
          startImmediately: true
        })
        const refused = yield* Effect.flip(prompt(sessionId, "again"))
        assert.include(refused.message, "prompt already in flight")
        yield* cancel(sessionId)
        assert.strictEqual((yield* Programs.joined(running)).stopReason, "cancelled")
        // The system prompt is remembered: the second prompt does not repeat it.
        assert.strictEqual((yield* prompt(sessionId, "next")).stopReason, "refusal")
      }),
    Programs.SLOW
  )

  it.effect(
    "stops after the allowed number of responses",
    () =>
      Effect.gen(function* () {
        const { newSession, prompt } = yield* agent(
          `agents: { solo-1: [{ steps: [{ shell: "true" }, { shell: "true" }, { say: never }] }] }`,
          { BUZZ_AGENT_MAX_ROUNDS: "2" }
        )
        const { sessionId } = yield* newSession
        const answer = yield* prompt(sessionId, `[System]\n${SYSTEM}\n\n[Context]\nx`)
        assert.strictEqual(answer.stopReason, "max_turn_requests")
      }),
    Programs.SLOW
  )

  it.effect(
    "fails a prompt as a provider does: an error, an unmet expectation, an unknown agent",
    () =>
      Effect.gen(function* () {
        const { newSession, prompt } = yield* agent(`
agents:
  solo-1:
    - { when: first, steps: [{ error: overloaded }] }
    - { when: second, steps: [{ shell: echo no }, { expect: "yes" }] }
    - { when: third, steps: [{ shell: "echo {member:nobody}" }] }
`)
        const { sessionId } = yield* newSession
        const failure = (text: string) => Effect.flip(prompt(sessionId, text))
        const first = yield* failure(`[System]\n${SYSTEM}\n\n[Context]\nfirst`)
        assert.strictEqual("code" in first ? first.code : undefined, -32_000)
        assert.strictEqual(first.message, "llm: overloaded")
        assert.include((yield* failure("second")).message, 'expected "yes"')
        assert.include((yield* failure("third")).message, "no value for {member:nobody}")
        const other = yield* failure("[System]\nYou are `other-1` (pubkey `aa`)\n\n[Context]\nx")
        assert.include(other.message, "no agent other-1")
      }),
    Programs.SLOW
  )

  it.effect(
    "says nothing, and says so in its log, when the playbook has no turn for a prompt",
    () =>
      Effect.gen(function* () {
        const { log, newSession, prompt, updates, usage } = yield* agent("agents: { solo-1: [] }")
        const { sessionId } = yield* newSession
        const text = `[System]\n${SYSTEM}\n\n[Context]\nx`
        assert.strictEqual((yield* prompt(sessionId, text)).stopReason, "end_turn")
        assert.deepStrictEqual(updates, [])
        assert.deepStrictEqual(usage, [[Math.ceil(text.length / 4), 0, 0]])
        assert.include(log.join(""), "WARN buzz_agent: the playbook has no turn left for this prompt agent=solo-1")
        assert.notInclude(log.join(""), "secret-key")
      }),
    Programs.SLOW
  )

  it.effect(
    "dies without an answer when the playbook says so, and ends with its stdin otherwise",
    () =>
      Effect.gen(function* () {
        const crashing = yield* agent("agents: { solo-1: [{ steps: [{ crash: true }] }] }")
        const { sessionId } = yield* crashing.newSession
        yield* Effect.flip(crashing.prompt(sessionId, `[System]\n${SYSTEM}\n\n[Context]\nx`))
        assert.strictEqual(yield* crashing.handle.exitCode, 101)

        const idle = yield* agent("agents: {}")
        yield* idle.newSession
        yield* idle.endInput
        assert.strictEqual(yield* Effect.timeout(idle.handle.exitCode, "10 seconds"), 0)
      }),
    Programs.SLOW
  )

  it.effect(
    "outlives SIGTERM only when the playbook says so",
    () =>
      Effect.gen(function* () {
        const stubborn = yield* agent("agents: { solo-1: [{ repeat: true, steps: [{ ignore_term: true }] }] }")
        const { sessionId } = yield* stubborn.newSession
        const text = `[System]\n${SYSTEM}\n\n[Context]\nx`
        yield* stubborn.prompt(sessionId, text)
        process.kill(stubborn.handle.pid, "SIGTERM")
        assert.strictEqual((yield* stubborn.prompt(sessionId, "again")).stopReason, "end_turn")

        const ordinary = yield* agent("agents: {}")
        process.kill(ordinary.handle.pid, "SIGTERM")
        const exit = yield* Effect.exit(Effect.timeout(ordinary.handle.exitCode, "10 seconds"))
        assert.include(String(exit), "SIGTERM")
      }),
    Programs.SLOW
  )

  it.effect(
    "exits 2 with one line when its configuration is wrong",
    () =>
      Effect.gen(function* () {
        const command = yield* Programs.programPath("buzz-agent")
        const cases: ReadonlyArray<readonly [Record<string, string>, string]> = [
          [{ BUZZ_AGENT_PROVIDER: "anthropic" }, "ERROR buzz_agent: config: BUZZ_AGENT_PROVIDER=anthropic"],
          [
            { BUZZ_AGENT_PROVIDER: "scripted", SCRIPTED_API_KEY: "k", SCRIPTED_PLAYBOOK: "/none.yaml" },
            "config: cannot read SCRIPTED_PLAYBOOK /none.yaml"
          ]
        ]
        for (const [env, text] of cases) {
          const running = yield* Programs.start(command, [], { env })
          assert.strictEqual(yield* running.exitCode, 2)
          const output = yield* running.awaitOutput(text)
          assert.strictEqual(output.trim().split("\n").length, 1)
        }
      }),
    Programs.SLOW
  )
})
