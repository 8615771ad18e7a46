/**
 * A running `buzz-agent` and the client that speaks ACP with it, for the integration tests.
 */
import * as acp from "@agentclientprotocol/sdk"
import { Effect, FileSystem, Schema, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { childPipes } from "../src/internal/childPipes.ts"
import * as Programs from "./programs.ts"

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

/** Starts the program with this environment and initializes it. */
export const start = Effect.fnUntraced(function* (env: Record<string, string>) {
  const command = yield* Programs.programPath("buzz-agent")
  const handle = yield* ChildProcess.make(command, [], {
    env: { ...Programs.BASE_ENVIRONMENT, ...env },
    killSignal: "SIGKILL"
  })
  const log = yield* Programs.collect(Stream.decodeText(handle.stderr))
  const pipes = yield* childPipes(handle)
  /** What the client was told, by session. */
  const updates: Array<{ readonly sessionId: string; readonly update: acp.SessionUpdate }> = []
  const usage: Array<ReadonlyArray<number>> = []
  const connection = acp
    .client({ name: "test" })
    .onNotification("session/update", ({ params }) => void updates.push(params))
    .onNotification(
      "_goose/unstable/session/update",
      decodeUsage,
      ({ params: { update } }) =>
        void usage.push([update.accumulatedInputTokens, update.accumulatedOutputTokens, update.accumulatedCachedTokens])
    )
    .connect(acp.ndJsonStream(pipes.writable, pipes.readable))
  yield* request(() =>
    connection.agent.request("initialize", { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} })
  )

  /** A session in a directory of its own, with a `buzz-dev-mcp`, without any server, or with this one. */
  const session = Effect.fnUntraced(function* (tools: "with tools" | "without tools" | acp.McpServer) {
    const fileSystem = yield* FileSystem.FileSystem
    const cwd = yield* fileSystem.makeTempDirectoryScoped({ prefix: "agent-test-" })
    const server = {
      name: "buzz-dev-mcp",
      command: yield* Programs.programPath("buzz-dev-mcp"),
      args: [],
      env: [{ name: "BUZZ_PRIVATE_KEY", value: "from-session" }]
    }
    const mcpServers: Array<acp.McpServer> =
      tools === "with tools" ? [server] : tools === "without tools" ? [] : [tools]
    const { sessionId } = yield* request(() => connection.agent.request("session/new", { cwd, mcpServers }))
    return {
      sessionId,
      cwd,
      prompt: (text: string) =>
        request(() => connection.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] })),
      cancel: Effect.promise(() => connection.agent.notify("session/cancel", { sessionId })),
      updates: () => updates.flatMap((one) => (one.sessionId === sessionId ? [one.update] : []))
    }
  })
  return { handle, log, usage, session, endInput: pipes.endInput }
})

/** A playbook in a file, and the environment that lets an agent play it. */
export const playing = Effect.fnUntraced(function* (playbook: string) {
  const fileSystem = yield* FileSystem.FileSystem
  const directory = yield* fileSystem.makeTempDirectoryScoped({ prefix: "agent-playbook-" })
  yield* fileSystem.writeFileString(`${directory}/playbook.yaml`, playbook)
  return {
    BUZZ_AGENT_PROVIDER: "scripted",
    SCRIPTED_API_KEY: "secret-key",
    SCRIPTED_PLAYBOOK: `${directory}/playbook.yaml`
  }
})
