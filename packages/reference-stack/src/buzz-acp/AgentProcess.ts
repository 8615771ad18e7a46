/**
 * One agent: a child process in a group of its own, and the ACP connection to it.
 */
import * as acp from "@agentclientprotocol/sdk"
import { Clock, type Duration, Effect, Ref, Schema, type Scope } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { childPipes } from "../internal/childPipes.ts"
import { TracingLog } from "../TracingLog.ts"
import * as AgentUpdates from "./AgentUpdates.ts"
import type { StopReason } from "./TurnOutcome.ts"

/** The agent could not be started; `detail` is what the log says. */
export class AgentStartFailed extends Schema.TaggedError<AgentStartFailed>()("AgentStartFailed", {
  detail: Schema.String
}) {}

/** A request to the agent failed: it answered with an error, with nonsense, or it is gone. */
export class AgentRequestFailed extends Schema.TaggedError<AgentRequestFailed>()("AgentRequestFailed", {
  kind: Schema.Literals(["error", "protocol", "exited"]),
  detail: Schema.String
}) {}

export interface AgentProcess {
  /** Opens a session with the MCP servers of the configuration, in our own working directory. */
  readonly newSession: Effect.Effect<string, AgentRequestFailed>
  /** Prompts, and waits for the stop reason however long it takes. */
  prompt(sessionId: string, text: string): Effect.Effect<StopReason, AgentRequestFailed>
  /** Asks the agent to end the running prompt. */
  cancel(sessionId: string): Effect.Effect<void>
  /** Completes when the process is gone. */
  readonly exited: Effect.Effect<void>
  /** Milliseconds since the agent last wrote anything. */
  readonly idleMillis: Effect.Effect<number>
}

/** What to start. */
export interface AgentCommand {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly mcpServers: ReadonlyArray<acp.McpServer>
}

/** What starting one needs. */
export type Services = ChildProcessSpawner.ChildProcessSpawner | TracingLog

/** Time for the answer to `initialize`. */
const INIT_TIMEOUT: Duration.Input = "60 seconds"

/**
 * Starts the agent and initializes it. It has our environment and our stderr. Closing the scope kills its process group at
 * once: what it runs in other groups ends by the end of its stdin.
 */
export const start = (
  options: AgentCommand,
  index: number
): Effect.Effect<AgentProcess, AgentStartFailed, Services | Scope.Scope> =>
  Effect.gen(function* () {
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    const log = yield* TracingLog
    const handle = yield* Effect.mapError(
      spawner.spawn(ChildProcess.make(options.command, options.args, { stderr: "inherit", killSignal: "SIGKILL" })),
      (cause) => new AgentStartFailed({ detail: `agent failed to spawn: ${cause.message}` })
    )
    const lastOutput = yield* Ref.make(yield* Clock.currentTimeMillis)
    const pipes = yield* childPipes(
      handle,
      Effect.flatMap(Clock.currentTimeMillis, (now) => Ref.set(lastOutput, now))
    )
    const connection = AgentUpdates.register(acp.client({ name: "buzz-acp" }), log).connect(
      acp.ndJsonStream(pipes.writable, pipes.readable)
    )
    const exited = Effect.asVoid(Effect.exit(handle.exitCode))
    const request = <A>(call: () => Promise<A>): Effect.Effect<A, AgentRequestFailed> =>
      Effect.raceFirst(
        Effect.tryPromise({ try: call, catch: (cause) => requestFailed(cause, connection) }),
        Effect.andThen(exited, Effect.fail(EXITED))
      )

    const answer = yield* request(() =>
      connection.agent.request("initialize", {
        protocolVersion: acp.PROTOCOL_VERSION,
        clientCapabilities: {},
        clientInfo: { name: "buzz-acp", version: "0.1.0" }
      })
    ).pipe(
      Effect.mapError((failure) => new AgentStartFailed({ detail: `agent initialize failed: ${failure.detail}` })),
      Effect.timeoutOrElse({
        duration: INIT_TIMEOUT,
        orElse: () => Effect.fail(new AgentStartFailed({ detail: "agent timed out during init (60s)" }))
      })
    )
    yield* log.log("INFO", "buzz_acp", `agent initialized: ${JSON.stringify(answer)}`, { agent: index })

    const agent: AgentProcess = {
      newSession: Effect.map(
        request(() =>
          connection.agent.request("session/new", { cwd: process.cwd(), mcpServers: [...options.mcpServers] })
        ),
        (session) => session.sessionId
      ),
      prompt: (sessionId, text) =>
        Effect.map(
          request(() => connection.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] })),
          (response) => response.stopReason
        ),
      // The connection to a dead agent cannot carry it, and a dead agent needs none.
      cancel: (sessionId) =>
        Effect.ignore(Effect.tryPromise(() => connection.agent.notify("session/cancel", { sessionId }))),
      exited,
      idleMillis: Effect.gen(function* () {
        return (yield* Clock.currentTimeMillis) - (yield* Ref.get(lastOutput))
      })
    }
    return agent
  })

const EXITED = new AgentRequestFailed({ kind: "exited", detail: "Agent process exited unexpectedly" })

const requestFailed = (cause: unknown, connection: acp.ClientConnection): AgentRequestFailed => {
  if (cause instanceof acp.RequestError) return new AgentRequestFailed({ kind: "error", detail: cause.message })
  // A closed connection rejects everything that is pending; the exit itself may be seen a little later.
  if (connection.signal.aborted) return EXITED
  return new AgentRequestFailed({ kind: "protocol", detail: cause instanceof Error ? cause.message : String(cause) })
}
