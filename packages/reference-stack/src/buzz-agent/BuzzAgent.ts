/**
 * The program `buzz-agent`: an ACP agent on stdio. It ends when stdin does.
 */
import * as acp from "@agentclientprotocol/sdk"
import { Duration, Effect, FiberSet, FileSystem, Result, Scope } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import { randomBytes } from "node:crypto"
import { Readable, Writable } from "node:stream"
import * as Platform from "../Platform.ts"
import { ProgramExit } from "../Program.ts"
import * as TracingLine from "../TracingLine.ts"
import { TracingLog } from "../TracingLog.ts"
import * as AgentConfig from "./AgentConfig.ts"
import * as AgentFailed from "./AgentFailed.ts"
import * as AgentSession from "./AgentSession.ts"
import type { Provider } from "./Provider.ts"
import * as ProviderConfig from "./ProviderConfig.ts"
import * as Toolbox from "./Toolbox.ts"

/** Serves until stdin ends. Exit 2 with one `config:` line when the environment or the playbook is wrong. */
export const buzzAgent = (env: Readonly<Record<string, string | undefined>>): Effect.Effect<void, ProgramExit> =>
  Effect.gen(function* () {
    const config = yield* configured(AgentConfig.parse(env))
    const provider = yield* providerOf(config)
    const systemPrompt = yield* readSystemPrompt(config)
    const log = yield* TracingLog
    yield* log.log("INFO", "buzz_agent", `buzz-agent starting: ${ProviderConfig.describe(config.provider)}`)
    for (const name of config.unheeded) yield* log.log("WARN", "buzz_agent", `${name} has no effect here`)
    yield* serve({ config, provider, systemPrompt, env })
  }).pipe(Effect.scoped, Effect.provide([Platform.layer, TracingLog.layerStderr]))

interface Setup {
  readonly config: AgentConfig.AgentConfig
  readonly provider: Provider
  readonly systemPrompt: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The notification by which the real agent tells what ACP has no update for. */
const EXTENSION_METHOD = "_goose/unstable/session/update"

const serve = Effect.fnUntraced(function* (setup: Setup) {
  // Sessions and their servers belong to the connection: when it ends, they end.
  const scope = yield* Effect.scope
  const runPromise = yield* FiberSet.makeRuntimePromise<Services, unknown, never>()
  const answer = <A>(effect: Effect.Effect<A, AgentFailed.AgentFailed, Services>): Promise<A> =>
    runPromise(Effect.result(effect)).then((result) => {
      if (Result.isSuccess(result)) return result.success
      throw new acp.RequestError(result.failure.code, result.failure.detail)
    })
  const sessions = new Map<string, AgentSession.AgentSession>()
  const session = (id: string) =>
    Effect.fromNullishOr(sessions.get(id)).pipe(
      Effect.mapError(() => AgentFailed.invalidParams(`there is no session ${id}`))
    )

  const app = acp
    .agent({ name: "buzz-agent" })
    .onRequest("initialize", () => ({
      protocolVersion: acp.PROTOCOL_VERSION,
      agentCapabilities: {
        loadSession: false,
        promptCapabilities: { image: false, audio: false, embeddedContext: false },
        mcpCapabilities: { http: false, sse: false }
      },
      agentInfo: { name: "buzz-agent", version: "0.1.0" }
    }))
    .onRequest("session/new", ({ client, params }) =>
      answer(
        Effect.gen(function* () {
          const sessionId = `ses_${randomBytes(8).toString("hex")}`
          sessions.set(sessionId, yield* newSession(setup, sessionId, params, client, scope))
          return { sessionId }
        })
      )
    )
    .onRequest("session/prompt", ({ params }) =>
      answer(
        Effect.gen(function* () {
          const stopReason = yield* (yield* session(params.sessionId)).prompt(promptText(params.prompt))
          return { stopReason }
        })
      )
    )
    .onNotification("session/cancel", ({ params }) => answer(sessions.get(params.sessionId)?.cancel ?? Effect.void))

  const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>
  const connection = app.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), input))
  yield* Effect.promise(() => connection.closed)
})

type Services = FileSystem.FileSystem | ChildProcessSpawner.ChildProcessSpawner | TracingLog

const newSession = Effect.fnUntraced(function* (
  setup: Setup,
  sessionId: string,
  params: acp.NewSessionRequest,
  client: acp.AgentContext,
  scope: Scope.Scope
) {
  if (!params.cwd.startsWith("/")) return yield* AgentFailed.invalidParams("session/new: cwd must be absolute")
  const servers: Array<Toolbox.McpServer> = []
  for (const server of params.mcpServers) {
    if (!("command" in server)) return yield* AgentFailed.invalidParams("session/new: only stdio MCP servers")
    servers.push(server)
  }
  const toolbox = yield* Toolbox.start({
    servers,
    cwd: params.cwd,
    env: setup.env,
    initTimeout: Duration.seconds(setup.config.mcpInitTimeoutSeconds),
    toolTimeout: Duration.seconds(setup.config.toolTimeoutSeconds)
  }).pipe(Scope.provide(scope))
  return AgentSession.make({
    provider: setup.provider,
    maxRounds: setup.config.maxRounds,
    systemPrompt: setup.systemPrompt,
    toolbox,
    client: sessionClient(client, sessionId),
    faults: {
      crash: Effect.sync(() => process.exit(CRASH_CODE)),
      ignoreTerm: Effect.sync(() => void process.on("SIGTERM", () => {}))
    }
  })
})

/** What a Rust program ends with after a panic. */
const CRASH_CODE = 101

/** Tells the client. A client that is gone closes the connection, which ends the program; a lost update adds nothing. */
const sessionClient = (client: acp.AgentContext, sessionId: string): AgentSession.SessionClient => {
  const update = (update: acp.SessionUpdate) =>
    Effect.ignore(Effect.tryPromise(() => client.notify("session/update", { sessionId, update })))
  const extension = (update: Readonly<Record<string, string | number>>) =>
    Effect.ignore(Effect.tryPromise(() => client.notify(EXTENSION_METHOD, { sessionId, update })))
  return {
    say: (text) => update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } }),
    toolStarted: ({ id, title, args }) =>
      Effect.andThen(
        update({
          sessionUpdate: "tool_call",
          toolCallId: id,
          title,
          kind: "other",
          status: "pending",
          rawInput: args
        }),
        update({ sessionUpdate: "tool_call_update", toolCallId: id, status: "in_progress" })
      ),
    toolEnded: ({ id, text, isError }) =>
      update({
        sessionUpdate: "tool_call_update",
        toolCallId: id,
        status: isError ? "failed" : "completed",
        content: [{ type: "content", content: { type: "text", text } }]
      }),
    // ACP has no update that says nothing.
    keepAlive: extension({ sessionUpdate: "keepalive" }),
    usage: ({ cached, input, output }) =>
      extension({
        sessionUpdate: "usage_update",
        accumulatedInputTokens: input,
        accumulatedOutputTokens: output,
        accumulatedCachedTokens: cached
      })
  }
}

const promptText = (prompt: ReadonlyArray<acp.ContentBlock>): string =>
  prompt.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n")

const configured = <A>(result: Result.Result<A, string>): Effect.Effect<A, ProgramExit> =>
  Result.match(result, {
    onSuccess: Effect.succeed,
    onFailure: (detail) =>
      Effect.clockWith((clock) =>
        Effect.flatMap(clock.currentTimeNanos, (nanos) =>
          Effect.fail(
            new ProgramExit({
              code: 2,
              stderr: TracingLine.format(
                { nanos, level: "ERROR", target: "buzz_agent", message: `config: ${detail}` },
                { ansi: false }
              )
            })
          )
        )
      )
  })

/** Only the chosen half is loaded: every agent of a team starts this program. */
const providerOf = Effect.fnUntraced(function* ({ limits, provider }: AgentConfig.AgentConfig) {
  if (provider._tag === "Scripted") return yield* scripted(provider.playbook)
  const HttpProvider = yield* Effect.promise(() => import("./HttpProvider.ts"))
  return yield* HttpProvider.make(provider, limits)
})

const scripted = Effect.fnUntraced(function* (path: string) {
  const Playbook = yield* Effect.promise(() => import("./Playbook.ts"))
  const ScriptedProvider = yield* Effect.promise(() => import("./ScriptedProvider.ts"))
  const fileSystem = yield* FileSystem.FileSystem
  const text = yield* fileSystem.readFileString(path).pipe(Effect.result)
  const playbook = yield* configured(
    text.pipe(
      Result.mapError((cause) => `cannot read SCRIPTED_PLAYBOOK ${path}: ${cause.message}`),
      Result.flatMap((content) => Result.mapError(Playbook.parse(content), (detail) => `${path}: ${detail}`))
    )
  )
  return yield* ScriptedProvider.make(playbook)
})

const readSystemPrompt = Effect.fnUntraced(function* ({ systemPrompt }: AgentConfig.AgentConfig) {
  if (systemPrompt === undefined) return ""
  if ("text" in systemPrompt) return systemPrompt.text
  const fileSystem = yield* FileSystem.FileSystem
  const text = yield* fileSystem.readFileString(systemPrompt.file).pipe(Effect.result)
  return yield* configured(
    Result.mapError(text, (cause) => `cannot read BUZZ_AGENT_SYSTEM_PROMPT_FILE ${systemPrompt.file}: ${cause.message}`)
  )
})
