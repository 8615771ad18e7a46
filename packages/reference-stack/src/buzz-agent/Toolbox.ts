/**
 * The tools of a session: its MCP servers, started and asked what they can do.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { Duration, Effect, type Scope } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { childPipes } from "../internal/childPipes.ts"
import { schemaValidator } from "../internal/schemaValidator.ts"
import * as AgentFailed from "./AgentFailed.ts"
import * as McpEnvironment from "./McpEnvironment.ts"
import { McpTransport } from "./McpTransport.ts"
import type { ModelTool } from "./ModelApi.ts"

/** One server as `session/new` names it. */
export interface McpServer {
  readonly name: string
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: ReadonlyArray<{ readonly name: string; readonly value: string }>
}

/** What a tool answered. A failed tool is an answer for the model, not a failure of the call. */
export interface ToolResult {
  readonly text: string
  readonly isError: boolean
}

export interface Toolbox {
  /** Every tool, by its full name. */
  readonly tools: ReadonlyArray<ModelTool>
  /** The full name, `<server>__<tool>`, of the first server's tool of this name. */
  find(tool: string): string | undefined
  /** Calls a tool by its full name. */
  call(fullName: string, args: Readonly<Record<string, unknown>>): Effect.Effect<ToolResult, AgentFailed.AgentFailed>
}

/** Characters of a tool's full name. */
const MAX_NAME = 64

/** Time from TERM to KILL for a server that does not end with its stdin. */
const TERM_TO_KILL: Duration.Input = "2 seconds"

/**
 * Starts every server and lists its tools. The scope owns the servers, each in a process group of its own. Fails when one
 * cannot be started in time.
 */
export const start = (options: {
  readonly servers: ReadonlyArray<McpServer>
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly initTimeout: Duration.Duration
  readonly toolTimeout: Duration.Duration
}): Effect.Effect<Toolbox, AgentFailed.AgentFailed, Scope.Scope | ChildProcessSpawner.ChildProcessSpawner> =>
  Effect.gen(function* () {
    const calls = new Map<string, Call>()
    const all: Array<ModelTool> = []
    for (const server of options.servers) {
      const client = yield* connect(server, options)
      const { tools } = yield* Effect.tryPromise({
        try: () => client.listTools(),
        catch: (cause) => AgentFailed.mcp(`${server.name}: tools/list failed: ${text(cause)}`)
      })
      for (const { description = "", inputSchema, name } of tools) {
        const fullName = `${server.name}__${name}`
        // A provider refuses a longer one, and with it every request.
        if (fullName.length > MAX_NAME)
          return yield* AgentFailed.mcp(`${server.name}: the tool name ${fullName} exceeds ${MAX_NAME} characters`)
        calls.set(fullName, callWith(client, name, options.toolTimeout))
        all.push({ name: fullName, description, inputSchema })
      }
    }
    return {
      tools: all,
      find: (tool) => [...calls.keys()].find((name) => name.endsWith(`__${tool}`)),
      call: (fullName, args) =>
        calls.get(fullName)?.(args) ?? Effect.fail(AgentFailed.mcp(`there is no tool ${fullName}`))
    }
  })

type Call = (args: Readonly<Record<string, unknown>>) => Effect.Effect<ToolResult, AgentFailed.AgentFailed>

const connect = Effect.fnUntraced(function* (
  server: McpServer,
  options: {
    readonly cwd: string
    readonly env: Readonly<Record<string, string | undefined>>
    readonly initTimeout: Duration.Duration
  }
) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const handle = yield* Effect.mapError(
    spawner.spawn(
      ChildProcess.make(server.command, server.args, {
        cwd: options.cwd,
        env: McpEnvironment.compose(options.env, server.env),
        stderr: "inherit",
        killSignal: "SIGTERM",
        forceKillAfter: TERM_TO_KILL
      })
    ),
    (cause) => AgentFailed.mcp(`${server.name}: failed to start ${server.command}: ${cause.message}`)
  )
  const client = new Client({ name: "buzz-agent", version: "0.1.0" }, { jsonSchemaValidator: schemaValidator() })
  const transport = new McpTransport(yield* childPipes(handle))
  yield* Effect.tryPromise({
    try: () => client.connect(transport),
    catch: (cause) => AgentFailed.mcp(`${server.name}: initialize failed: ${text(cause)}`)
  }).pipe(
    Effect.timeoutOrElse({
      duration: options.initTimeout,
      orElse: () =>
        Effect.fail(AgentFailed.mcp(`${server.name}: no answer within ${Duration.format(options.initTimeout)}`))
    })
  )
  return client
})

const callWith =
  (client: Client, name: string, timeout: Duration.Duration): Call =>
  (args) =>
    Effect.tryPromise({
      try: (signal) =>
        client.callTool({ name, arguments: args }, undefined, { signal, timeout: Duration.toMillis(timeout) }),
      catch: (cause) => AgentFailed.mcp(`${name}: ${text(cause)}`)
    }).pipe(Effect.map((result) => ({ text: contentText(result.content), isError: result.isError === true })))

/** Only text counts: no provider here shows a model anything else. */
const contentText = (content: unknown): string =>
  (Array.isArray(content) ? content : [])
    .flatMap((block: { readonly type?: unknown; readonly text?: unknown }) =>
      block.type === "text" && typeof block.text === "string" ? [block.text] : []
    )
    .join("\n")

const text = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
