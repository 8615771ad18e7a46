// @module-tag thorough
import { buzzAcp } from "@buzz-orchestra/reference-stack/buzz-acp/BuzzAcp"
import { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer, Redacted } from "effect"
import { launch } from "./launch.ts"
import * as Programs from "./programs.ts"
import * as Relay from "./relay.ts"

/** A user and an agent called solo-1 in a channel, and a way to say something that mentions the agent. */
const solo = Effect.fnUntraced(function* (playbook: string, env: Record<string, string> = {}) {
  const client = yield* BuzzClient
  const user = yield* Relay.person("user")
  const self = yield* Relay.person("solo-1")
  const channel = yield* Relay.channel(user, self)
  const acp = yield* launch({ self, user, channel, playbook, env })
  const say = (content: string, channelId = channel) =>
    client.send(user, { channelId, content, mentions: [self.identity.pubkey] })
  const messages = client.readChannel(user, channel, { kinds: [EventKind.Message] })
  return { acp, channel, client, messages, say, self, user }
})

const PLAYBOOK = `
agents:
  solo-1:
    - when: go
      steps:
        - say: On it.
        - usage: { input: 100, output: 10, cached: 7 }
        - shell: buzz messages send --channel {channel} --reply-to {event} --content 'DONE for {from}'
        - usage: { input: 50, output: 1 }
    - when: one
      steps: [{ say: first }, { shell: "while [ ! -e release ]; do sleep 0.05; done" }]
    - when: ["[Buzz events — 2 events]", two, three]
      steps: [{ say: both }]
    - when: crash
      unless_file: crashed
      steps: [{ shell: touch crashed }, { crash: true }]
    - when: well
      steps: [{ say: second life }]
    - when: finish
      steps: [{ say: working }, { wait_ms: 300 }, { shell: "echo $PPID > mcp.pid" }, { say: finished }]
`

/** One agent for the tests of an ordinary life: each is three processes to start. */
class Solo extends Context.Service<Solo, Effect.Success<ReturnType<typeof solo>>>()("test/Solo") {
  static readonly layer = Layer.effect(
    Solo,
    solo(PLAYBOOK, {
      RUST_LOG: "buzz_acp=debug,pool::prompt=info,acp::usage=debug,acp::tool=info,acp::stream=info,acp::wire=off"
    })
  ).pipe(Layer.provideMerge(Relay.layer))
}

/** The agent, with what it prints from now on as its output. */
const soloFromNow = Effect.map(Solo, ({ acp, ...rest }) => {
  const before = acp.output()
  const awaitOutput = (text: string) =>
    Effect.map(acp.awaitOutput(text, before.split(text).length), (output) => output.slice(before.length))
  return { ...rest, acp: { ...acp, awaitOutput } }
})

/** For one test after the other. */
const IN_ORDER = { ...Programs.SLOW, concurrent: false }

layer(Solo.layer, { excludeTestServices: true, timeout: Programs.SLOW.timeout })("buzz-acp, in one life", (it) => {
  it.effect(
    "wakes on a mention, answers through the agent's shell, and says so in its log",
    () =>
      Effect.gen(function* () {
        const { acp, channel, messages, say, self, user } = yield* soloFromNow
        const task = yield* say("@solo-1 go")
        const output = yield* acp.awaitOutput(`turn delivered Buzz events for channel ${channel}: ${task.id}\n`)
        // Of one second, in any order.
        assert.sameMembers(
          (yield* messages).map(({ content }) => content),
          ["@solo-1 go", `DONE for ${user.identity.pubkey}`]
        )
        const lines = output
          .split("\n")
          .flatMap((line) => /^\S+Z +([A-Z]+ (?:pool|acp)::[a-z_:]+: .*)$/.exec(line)?.[1] ?? [])
          .map((line) => line.replace(/ses_[0-9a-f]{16}/, "ses_*"))
        const from = lines.indexOf(`INFO pool::prompt: turn starting for channel ${channel}`)
        assert.deepStrictEqual(lines.slice(from), [
          `INFO pool::prompt: turn starting for channel ${channel}`,
          "INFO acp::stream: On it.",
          "DEBUG acp::usage: goose usage update session_id=ses_* input=Some(100) output=Some(10) cached=7",
          "INFO acp::tool: tool_call: buzz-dev-mcp__shell (other)",
          "INFO acp::tool: tool_call_update: call_1 → in_progress",
          "INFO acp::tool: tool_call_update: call_1 → completed",
          "DEBUG acp::usage: goose usage update session_id=ses_* input=Some(150) output=Some(11) cached=7",
          `INFO pool::prompt: turn complete for channel ${channel}: end_turn`,
          `INFO pool::prompt: turn delivered Buzz events for channel ${channel}: ${task.id}`
        ])
        for (const secret of [Redacted.value(self.identity.secretKey), "nsec1", "provider-key"])
          assert.notInclude(acp.output(), secret)
      }),
    IN_ORDER
  )

  it.effect(
    "gives what came during a turn to the next one, together",
    () =>
      Effect.gen(function* () {
        const { acp, channel, say } = yield* soloFromNow
        const first = yield* say("one")
        yield* acp.awaitOutput("acp::stream: first")
        const later = [yield* say("two"), yield* say("three")]
        for (const { id } of later) yield* acp.awaitOutput(`event queued channel=${channel} event_id=${id}`)
        const fileSystem = yield* FileSystem.FileSystem
        yield* fileSystem.writeFileString(`${acp.cwd}/release`, "")
        yield* acp.awaitOutput(`turn delivered Buzz events for channel ${channel}: ${first.id}\n`)
        const ids = later.map(({ id }) => id).toSorted()
        const output = yield* acp.awaitOutput(`turn delivered Buzz events for channel ${channel}: ${ids.join(",")}\n`)
        assert.include(output, "acp::stream: both")
      }),
    IN_ORDER
  )

  it.effect(
    "listens to a channel that it is added to later, and replaces an agent process that dies there",
    () =>
      Effect.gen(function* () {
        const { acp, channel, client, say, self, user } = yield* soloFromNow
        const other = yield* Relay.channel(user)
        yield* client.addMember(user, { channelId: other, pubkey: self.identity.pubkey, role: "member" })
        yield* acp.awaitOutput(`membership notification: subscribing to new channel channel_id=${other}`)
        yield* say("crash", other)
        const crashed = yield* acp.awaitOutput("requeueing failed batch")
        assert.include(crashed, `INFO pool::prompt: turn starting for channel ${other}`)
        assert.include(crashed, "ERROR pool::prompt: agent 0 exited during prompt")
        assert.include(crashed, 'WARN buzz_acp: agent_returned — respawning agent=0 outcome="exited"')
        assert.notInclude(crashed, "turn complete")
        // That channel now has a pause; this one has none.
        const { id } = yield* say("well?")
        const output = yield* acp.awaitOutput(`turn delivered Buzz events for channel ${channel}: ${id}\n`)
        assert.match(output, /agent initialized: .* agent=0\n[\s\S]*acp::stream: second life/)
      }),
    IN_ORDER
  )

  it.effect(
    "lets a running turn finish when it is told to stop, then ends everything and exits 0",
    () =>
      Effect.gen(function* () {
        const { acp, channel, say } = yield* soloFromNow
        yield* say("finish")
        yield* acp.awaitOutput("acp::stream: working")
        yield* Effect.sync(() => process.kill(acp.pid, "SIGTERM"))
        assert.strictEqual(yield* Effect.timeout(acp.exitCode, "10 seconds"), 0)
        const output = yield* acp.awaitOutput("buzz-acp stopped")
        const inOrder = [
          "INFO buzz_acp: shutting down",
          "INFO buzz_acp: shutdown: waiting for in-flight prompts",
          "acp::stream: finished",
          `turn complete for channel ${channel}`,
          "INFO buzz_acp: presence set to offline",
          "INFO buzz_acp: buzz-acp stopped"
        ].map((text) => output.indexOf(text))
        assert.notInclude(inOrder, -1)
        assert.deepStrictEqual(
          inOrder,
          inOrder.toSorted((a, b) => a - b)
        )
        const fileSystem = yield* FileSystem.FileSystem
        const mcpServer = Number(yield* fileSystem.readFileString(`${acp.cwd}/mcp.pid`))
        assert.isTrue(yield* Programs.gone(mcpServer))
      }),
    IN_ORDER
  )
})

layer(Relay.layer, { excludeTestServices: true })("buzz-acp", (it) => {
  it.effect(
    "cancels an agent that falls silent, and ends its process",
    () =>
      Effect.gen(function* () {
        const { acp, channel, say } = yield* solo("agents: { solo-1: [{ steps: [{ hang: until_cancelled }] }] }", {
          BUZZ_ACP_IDLE_TIMEOUT: "1",
          BUZZ_ACP_MCP_COMMAND: ""
        })
        const [agent] = yield* Programs.children(acp.pid)
        yield* say("go")
        const cancelled = yield* acp.awaitOutput("requeueing failed batch")
        assert.match(cancelled, /WARN pool::prompt: idle timeout \(1s\) — cancelling session ses_/)
        assert.include(cancelled, `WARN pool::prompt: turn cancelled for channel ${channel}`)
        assert.isTrue(yield* Programs.gone(agent ?? 0), "the agent that was cut off still runs")
      }),
    Programs.SLOW
  )

  it.effect(
    "does not start with a wrong configuration, a dead relay or a dead agent",
    () =>
      Effect.gen(function* () {
        const self = yield* Relay.person("solo-1")
        const fileSystem = yield* FileSystem.FileSystem
        const directory = yield* fileSystem.makeTempDirectoryScoped({ prefix: "acp-agent-" })
        yield* fileSystem.writeFileString(`${directory}/agent`, Programs.LEAST_AGENT, { mode: 0o755 })
        for (const [env, code, text] of [
          [{ BUZZ_ACP_NO_TYPING: "1" }, 2, "error: invalid value '1'"],
          [{ BUZZ_PRIVATE_KEY: "zz" }, 1, "Error: configuration error: BUZZ_PRIVATE_KEY"],
          [{ BUZZ_ACP_AGENT_COMMAND: "/no/such/agent" }, 1, "Error: all 1 agents failed to start"],
          [{ BUZZ_ACP_AGENT_COMMAND: "false" }, 1, "Error: all 1 agents failed to start"],
          [
            { BUZZ_ACP_AGENT_COMMAND: `${directory}/agent`, BUZZ_RELAY_URL: "ws://127.0.0.1:9" },
            1,
            "Error: relay connect error: "
          ]
        ] as const) {
          const exit = yield* Effect.flip(buzzAcp({ ...self.env, RUST_LOG: "off", ...env }))
          assert.deepStrictEqual([exit.code, exit.stderr.slice(0, text.length)], [code, text])
        }
      }),
    Programs.SLOW
  )
})
