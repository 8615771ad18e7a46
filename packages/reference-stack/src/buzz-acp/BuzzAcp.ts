/**
 * The program `buzz-acp`: from its environment to the running bridge, in the order in which the real one starts, and its
 * orderly end.
 */
import * as NodeWS from "@effect/platform-node/NodeWS"
import * as Identity from "@buzz-orchestra/relay/Identity"
import * as OwnerAttestation from "@buzz-orchestra/relay/OwnerAttestation"
import * as RelayConnection from "@buzz-orchestra/relay/RelayConnection"
import * as RelayUrl from "@buzz-orchestra/relay/RelayUrl"
import { Schnorr } from "@buzz-orchestra/relay/Schnorr"
import { Clock, Context, Effect, Exit, FileSystem, Layer, Logger, Queue, Redacted, Result, Scope, Stream } from "effect"
import { HttpPost } from "../HttpPost.ts"
import * as Platform from "../Platform.ts"
import { ProgramExit } from "../Program.ts"
import { RelayBridge } from "../RelayBridge.ts"
import { TracingLog } from "../TracingLog.ts"
import * as AcpConfig from "./AcpConfig.ts"
import * as AgentPool from "./AgentPool.ts"
import * as AgentProcess from "./AgentProcess.ts"
import { BASE_PROMPT } from "./BasePrompt.ts"
import * as Bridge from "./Bridge.ts"
import * as ChannelDirectory from "./ChannelDirectory.ts"
import { mcpServers } from "./McpServers.ts"
import * as Presence from "./Presence.ts"
import * as Subscriptions from "./Subscriptions.ts"

type Env = Readonly<Record<string, string | undefined>>

/** Runs until SIGTERM, SIGINT, `!shutdown`, or until all agents are dead: exit 0. Exit 2 for usage, 1 for the rest. */
export const buzzAcp = (env: Env): Effect.Effect<void, ProgramExit> => {
  const log = TracingLog.layerStdout(env)
  return Effect.gen(function* () {
    const config = yield* Effect.mapError(
      Effect.fromResult(AcpConfig.parse(env)),
      (problem) => new ProgramExit(AcpConfig.problemExit(problem))
    )
    const identity = yield* readIdentity(config)
    const httpUrl = Result.getOrElse(RelayUrl.toHttp(config.relayUrl), () => config.relayUrl)
    yield* Effect.provide(
      started(config, identity),
      Layer.provide(RelayBridge.layerWith({ httpUrl, identity }), HttpPost.layer)
    )
  }).pipe(
    Effect.provide(
      Layer.mergeAll(
        log,
        Schnorr.layerPure,
        Platform.layer,
        NodeWS.layerWebSocketConstructor,
        Layer.provide(libraryLog, log)
      )
    )
  )
}

/** What the library of the relay connection has to say becomes a line of this program's log. */
const libraryLog = Logger.layer([
  Effect.map(TracingLog, ({ log }) =>
    Logger.make(({ message }) =>
      Effect.runSync(
        log("WARN", "buzz_acp::relay", (Array.isArray(message) ? message : [message]).map(String).join(" "))
      )
    )
  )
])

const started = Effect.fnUntraced(function* (config: AcpConfig.AcpConfig, identity: Identity.Identity) {
  const { log } = yield* TracingLog
  const prompts = {
    base: config.basePrompt === "none" ? undefined : yield* readText(config.basePrompt ?? { text: BASE_PROMPT }),
    system: config.systemPrompt === undefined ? undefined : yield* readText(config.systemPrompt)
  }
  yield* log("INFO", "buzz_acp", startLine(config, identity.pubkey))
  const inputs = yield* Queue.unbounded<Bridge.Input>()
  // In the order of the end: agents first, then the last word, then the connection.
  const agents = yield* Scope.make()
  const connected = yield* Scope.make()
  yield* Effect.gen(function* () {
    const pool = yield* startAgents(config, identity, inputs).pipe(Scope.provide(agents))
    const since = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const connection = yield* connect(config, identity).pipe(Scope.provide(connected))
    const presence = yield* Presence.make(connection, identity)
    const subscriptions = yield* Subscriptions.make(connection, {
      self: identity.pubkey,
      config,
      receiver: {
        event: (channel, event) => Effect.asVoid(Queue.offer(inputs, { _tag: "Event", channel, event })),
        membership: (event) => Effect.asVoid(Queue.offer(inputs, { _tag: "Membership", event }))
      }
    }).pipe(Scope.provide(connected))
    yield* subscriptions.memberships(since)
    yield* log("INFO", "buzz_acp", "subscribed to membership notifications")
    if (config.presence) {
      yield* presence.set("online")
      yield* log("INFO", "buzz_acp", "presence set to online")
      yield* Effect.forkIn(presence.keepOnline, connected)
    }
    const owner = yield* resolveOwner(config, identity)
    const directory = yield* ChannelDirectory.make(identity.pubkey)
    yield* subscribeAll(config, directory, subscriptions, since)
    yield* Effect.forkIn(stopOnSignal(inputs), connected)
    yield* Effect.scoped(
      Bridge.run({ config, prompts, directory, presence, self: identity.pubkey, owner, inputs, pool, subscriptions })
    )
    yield* Scope.close(agents, Exit.void)
    if (config.presence) {
      yield* presence.set("offline")
      yield* log("INFO", "buzz_acp", "presence set to offline")
    }
  }).pipe(
    Effect.ensuring(Scope.close(agents, Exit.void)),
    Effect.ensuring(Effect.timeoutOption(Scope.close(connected, Exit.void), "5 seconds"))
  )
  yield* log("INFO", "buzz_acp", "buzz-acp stopped")
})

const failure = (text: string) => new ProgramExit({ code: 1, stderr: `Error: ${text}` })

const readIdentity = Effect.fnUntraced(function* (config: AcpConfig.AcpConfig) {
  const identity = yield* Effect.mapError(Identity.parse(config.privateKey), () =>
    failure("configuration error: BUZZ_PRIVATE_KEY is not a valid key (hex or nsec)")
  )
  return { ...identity, authTag: config.authTag }
})

const readText = (source: AcpConfig.TextSource) =>
  "text" in source
    ? Effect.succeed(source.text)
    : FileSystem.FileSystem.use((fileSystem) =>
        Effect.mapError(fileSystem.readFileString(source.file), (cause) =>
          failure(`configuration error: cannot read ${source.file}: ${cause.message}`)
        )
      )

const startLine = (config: AcpConfig.AcpConfig, pubkey: string): string =>
  [
    `buzz-acp starting: relay=${config.relayUrl}`,
    `pubkey=${pubkey}`,
    `agent_cmd=${[config.agentCommand, ...config.agentArgs].join(" ")}`,
    `mcp_cmd=${config.mcpCommand}`,
    `idle_timeout=${config.idleTimeoutSeconds}s`,
    `max_turn=${config.maxTurnSeconds}s`,
    `agents=${config.agents}`,
    `respond_to=${config.respondTo}`
  ].join(" ")

const startAgents = Effect.fnUntraced(function* (
  config: AcpConfig.AcpConfig,
  identity: Identity.Identity,
  inputs: Queue.Queue<Bridge.Input>
) {
  const { log } = yield* TracingLog
  // Without the scope of the whole pool, which would take the place of each agent's.
  const services = Context.omit(Scope.Scope)(yield* Effect.context<AgentProcess.Services>())
  const command: AgentProcess.AgentCommand = {
    command: config.agentCommand,
    args: config.agentArgs,
    mcpServers: mcpServers(config, identity)
  }
  const pool = yield* AgentPool.make({
    count: config.agents,
    start: (index) => Effect.provideContext(AgentProcess.start(command, index), services),
    onChange: Effect.asVoid(Queue.offer(inputs, { _tag: "AgentsChanged" }))
  })
  if (pool.isDead()) return yield* failure(`all ${config.agents} agents failed to start — cannot continue`)
  yield* log("INFO", "buzz_acp", "agent_pool_ready", { agents: config.agents })
  return pool
})

const connect = Effect.fnUntraced(function* (config: AcpConfig.AcpConfig, identity: Identity.Identity) {
  const { log } = yield* TracingLog
  const connection = yield* Effect.mapError(RelayConnection.open({ url: config.relayUrl, identity }), ({ reason }) =>
    failure(`relay connect error: ${"detail" in reason ? reason.detail : reason._tag}`)
  )
  yield* log("INFO", "buzz_acp", `connected to relay at ${config.relayUrl}`)
  yield* connection.status.pipe(
    Stream.drop(1),
    Stream.runForEach((status) =>
      status._tag === "Connected"
        ? log("INFO", "buzz_acp::relay", `reconnected to relay at ${config.relayUrl}`)
        : Effect.andThen(
            log("WARN", "buzz_acp::relay", `relay event stream ended — requesting reconnect: ${status.detail}`),
            log("INFO", "buzz_acp::relay", `autonomous reconnect attempt ${status.attempt - 1} to ${config.relayUrl}`)
          )
    ),
    Effect.forkScoped
  )
  return connection
})

const resolveOwner = Effect.fnUntraced(function* (config: AcpConfig.AcpConfig, identity: Identity.Identity) {
  const { log } = yield* TracingLog
  let owner = config.agentOwner
  if (config.authTag !== undefined) {
    const attestation = OwnerAttestation.verify(yield* Schnorr, Redacted.value(config.authTag), identity.pubkey)
    if (Result.isSuccess(attestation)) {
      owner = attestation.success.owner
      yield* log("INFO", "buzz_acp", `owner resolved from BUZZ_AUTH_TAG: ${owner}`)
    } else yield* log("WARN", "buzz_acp", `BUZZ_AUTH_TAG verification failed: ${attestation.failure} — falling back`)
  }
  yield* log("INFO", "buzz_acp", owner === undefined ? "no agent owner configured" : `agent owner: ${owner}`)
  if (owner === undefined && config.respondTo === "owner-only")
    yield* log("WARN", "buzz_acp", "respond_to=owner-only without an owner — all events will be dropped")
  return owner
})

const subscribeAll = Effect.fnUntraced(function* (
  config: AcpConfig.AcpConfig,
  directory: ChannelDirectory.ChannelDirectory,
  subscriptions: Subscriptions.Subscriptions,
  since: number
) {
  const { log } = yield* TracingLog
  const joined = yield* Effect.mapError(directory.memberships, (error) =>
    failure(`channel discovery error: ${error.message}`)
  )
  yield* log("INFO", "buzz_acp", `discovered ${joined.length} channel(s)`)
  const wanted = joined.filter(({ id }) => config.channels === undefined || config.channels.includes(id))
  for (const { id } of wanted) {
    yield* subscriptions.add(id, since)
    yield* log("INFO", "buzz_acp", `subscribed to channel ${id}`)
  }
  if (wanted.length === 0) yield* log("WARN", "buzz_acp", "no channel subscriptions resolved — agent will sit idle")
})

/** Only from here on a signal is an order; before, it kills. */
const stopOnSignal = (inputs: Queue.Queue<Bridge.Input>): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const stop = () => resume(Effect.asVoid(Queue.offer(inputs, { _tag: "Stop" })))
    process.once("SIGTERM", stop).once("SIGINT", stop)
  })
