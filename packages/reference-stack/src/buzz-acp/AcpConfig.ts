/**
 * What `buzz-acp` reads from its environment. Pure; names, defaults and strictness are those of the real program. What this
 * stand-in does not do is refused when it is asked for, never ignored.
 */
import { Redacted, Result } from "effect"
import * as Read from "./EnvReader.ts"

/** Whose messages may start a turn. */
export type RespondTo = "owner-only" | "allowlist" | "anyone" | "nobody"
/** What happens to a message for a channel whose turn runs. */
export type MultipleEventHandling = "queue" | "steer" | "interrupt" | "owner-interrupt"
/** A text given directly, or a file with it. */
export type TextSource = { readonly text: string } | { readonly file: string }

/** A valid configuration. Durations in seconds. */
export interface AcpConfig {
  readonly relayUrl: string
  readonly privateKey: Redacted.Redacted<string>
  readonly authTag: Redacted.Redacted<string> | undefined
  /** Public key of the owner, when no attestation names one. */
  readonly agentOwner: string | undefined
  readonly agentCommand: string
  readonly agentArgs: ReadonlyArray<string>
  readonly mcpCommand: string
  readonly idleTimeoutSeconds: number
  readonly maxTurnSeconds: number
  readonly systemPrompt: TextSource | undefined
  /** `undefined`: the built-in one; `none`: no base prompt at all. */
  readonly basePrompt: TextSource | "none" | undefined
  readonly initialMessage: string | undefined
  /** Agent processes. */
  readonly agents: number
  /** Only events that mention the agent. */
  readonly mentionsOnly: boolean
  /** Kinds asked for; `undefined` is every kind in mode `all` and the waking kinds in mode `mentions`. */
  readonly kinds: ReadonlyArray<number> | undefined
  /** Only these channels; `undefined` is all it is a member of. */
  readonly channels: ReadonlyArray<string> | undefined
  readonly dedup: "queue" | "drop"
  readonly multipleEvents: MultipleEventHandling
  readonly ignoreSelf: boolean
  /** Messages of a thread or direct conversation shown with an event. */
  readonly contextMessageLimit: number
  /** Turns after which a session is replaced; 0 is never. */
  readonly maxTurnsPerSession: number
  readonly presence: boolean
  readonly typing: boolean
  readonly respondTo: RespondTo
  readonly allowlist: ReadonlySet<string>
}

/** Why the program does not start: `usage` as clap says it (exit 2), `config` for everything after (exit 1). */
export interface ConfigProblem {
  readonly kind: "usage" | "config"
  readonly text: string
}

/** What the program prints on stderr, and its exit code. */
export const problemExit = ({ kind, text }: ConfigProblem): { readonly code: number; readonly stderr: string } =>
  kind === "usage"
    ? { code: 2, stderr: `error: ${text}\n\nFor more information, try '--help'.` }
    : { code: 1, stderr: `Error: configuration error: ${text}` }

/** Waking kinds of mode `mentions`: channel message, approval request, reminder. */
const WAKING_KINDS = [9, 46_010, 40_007]

/** The longest turn that may be configured, in seconds. */
const MAX_TURN_CEILING = 604_800

/** Reads the environment. */
export const parse = (env: Read.Env): Result.Result<AcpConfig, ConfigProblem> =>
  Result.gen(function* () {
    yield* unsupported(env)
    const key = env["BUZZ_PRIVATE_KEY"] ?? env["BUZZ_ACP_PRIVATE_KEY"]
    if (key === undefined)
      return yield* usage("the following required arguments were not provided:\n  --private-key <PRIVATE_KEY>")
    const relayUrl = env["BUZZ_RELAY_URL"] ?? "ws://localhost:3000"
    if (!/^wss?:\/\/./.test(relayUrl)) return yield* config(`BUZZ_RELAY_URL must be ws:// or wss://`)
    const agentCommand = env["BUZZ_ACP_AGENT_COMMAND"] ?? "goose"
    const subscribe = yield* Read.oneOf(env, "BUZZ_ACP_SUBSCRIBE", ["mentions", "all", "config"], "mentions")
    if (subscribe === "config") return yield* config("BUZZ_ACP_SUBSCRIBE=config is not part of the reference stack")
    const dedup = yield* Read.oneOf(env, "BUZZ_ACP_DEDUP", ["queue", "drop"], "queue")
    return {
      relayUrl,
      privateKey: Redacted.make(key, { label: "BUZZ_PRIVATE_KEY" }),
      authTag: yield* authTag(env),
      agentOwner: yield* hex64(env["BUZZ_ACP_AGENT_OWNER"], "BUZZ_ACP_AGENT_OWNER"),
      agentCommand,
      agentArgs: agentArgs(agentCommand, env["BUZZ_ACP_AGENT_ARGS"] ?? "acp"),
      mcpCommand: env["BUZZ_ACP_MCP_COMMAND"] ?? "",
      ...(yield* timeouts(env)),
      systemPrompt: yield* textSource(env, "BUZZ_ACP_SYSTEM_PROMPT"),
      basePrompt: yield* basePrompt(env),
      initialMessage: env["BUZZ_ACP_INITIAL_MESSAGE"],
      agents: yield* Read.integer(env, "BUZZ_ACP_AGENTS", { fallback: 1, minimum: 1, maximum: 32 }),
      mentionsOnly: subscribe === "mentions" && !(yield* Read.flag(env, "BUZZ_ACP_NO_MENTION_FILTER")),
      kinds: yield* kinds(env, subscribe),
      channels: yield* channels(env),
      dedup,
      multipleEvents: yield* multipleEvents(env, dedup),
      ignoreSelf: !(yield* Read.flag(env, "BUZZ_ACP_NO_IGNORE_SELF")),
      contextMessageLimit: yield* Read.integer(env, "BUZZ_ACP_CONTEXT_MESSAGE_LIMIT", { fallback: 12, maximum: 100 }),
      maxTurnsPerSession: yield* Read.integer(env, "BUZZ_ACP_MAX_TURNS_PER_SESSION", { fallback: 0 }),
      presence: !(yield* Read.flag(env, "BUZZ_ACP_NO_PRESENCE")),
      typing: !(yield* Read.flag(env, "BUZZ_ACP_NO_TYPING")),
      ...(yield* gate(env))
    }
  })

const usage = (text: string): Result.Result<never, ConfigProblem> => Result.fail({ kind: "usage", text })
const config = (text: string): Result.Result<never, ConfigProblem> => Result.fail({ kind: "config", text })

/** Features of the real program that would change what an agent does. */
const unsupported = (env: Read.Env) =>
  Result.gen(function* () {
    const heartbeat = yield* Read.integer(env, "BUZZ_ACP_HEARTBEAT_INTERVAL", { fallback: 0, maximum: 86_400 })
    const observer = yield* Read.flag(env, "BUZZ_ACP_RELAY_OBSERVER")
    const memory = yield* Read.flag(env, "BUZZ_ACP_MEMORY")
    if (memory && (yield* Read.flag(env, "BUZZ_ACP_NO_MEMORY")))
      return yield* usage("the argument '--memory' cannot be used with '--no-memory'")
    const asked = [
      [heartbeat > 0, "BUZZ_ACP_HEARTBEAT_INTERVAL"],
      [observer, "BUZZ_ACP_RELAY_OBSERVER"],
      [memory, "BUZZ_ACP_MEMORY"],
      [env["BUZZ_ACP_PERSONA_PACK"] !== undefined, "BUZZ_ACP_PERSONA_PACK"],
      [env["BUZZ_ACP_MODEL"] !== undefined, "BUZZ_ACP_MODEL"]
    ] as const
    for (const [isAsked, name] of asked) if (isAsked) return yield* config(`${name} is not part of the reference stack`)
    return undefined
  })

/** A lone `acp` is meant for goose; these programs take no such argument. */
const WITHOUT_ACP = new Set([
  "buzz-agent",
  "codex",
  "codex-acp",
  "claude-agent-acp",
  "claude-code-acp",
  "claude-code",
  "claudecode"
])

const agentArgs = (command: string, text: string): ReadonlyArray<string> => {
  const args = text
    .split(",")
    .map((arg) => arg.trim())
    .filter((arg) => arg !== "")
  const program = command.split("/").at(-1) ?? ""
  return args.length === 1 && args[0] === "acp" && WITHOUT_ACP.has(program) ? [] : args
}

/** Malformed tags are tolerated here as in the real program: `owner` warns about them. */
const authTag = (env: Read.Env): Result.Result<Redacted.Redacted<string> | undefined, ConfigProblem> => {
  const text = env["BUZZ_AUTH_TAG"] ?? ""
  return Result.succeed(text === "" ? undefined : Redacted.make(text, { label: "BUZZ_AUTH_TAG" }))
}

const timeouts = (env: Read.Env) =>
  Result.gen(function* () {
    const name = env["BUZZ_ACP_IDLE_TIMEOUT"] === undefined ? "BUZZ_ACP_TURN_TIMEOUT" : "BUZZ_ACP_IDLE_TIMEOUT"
    const idle = (yield* Read.integer(env, name, { fallback: 900 })) || 1
    const cap = (yield* Read.integer(env, "BUZZ_ACP_MAX_TURN_DURATION", { fallback: 7200 })) || 60
    if (cap > MAX_TURN_CEILING) return yield* config(`max turn duration (${cap}s) exceeds ${MAX_TURN_CEILING}s`)
    if (idle >= cap) return yield* config(`idle timeout (${idle}s) must be less than max turn duration (${cap}s)`)
    return { idleTimeoutSeconds: idle, maxTurnSeconds: cap }
  })

const textSource = (env: Read.Env, name: string): Result.Result<TextSource | undefined, ConfigProblem> => {
  const text = env[name]
  const file = env[`${name}_FILE`]
  if (text !== undefined && file !== undefined) return usage(`${name} and ${name}_FILE cannot be used together`)
  return Result.succeed(text !== undefined ? { text } : file !== undefined ? { file } : undefined)
}

const basePrompt = (env: Read.Env) =>
  Result.map(Read.flag(env, "BUZZ_ACP_NO_BASE_PROMPT"), (isOff): AcpConfig["basePrompt"] => {
    const file = env["BUZZ_ACP_BASE_PROMPT_FILE"]
    return isOff ? "none" : file === undefined ? undefined : { file }
  })

const kinds = (env: Read.Env, subscribe: string): Result.Result<AcpConfig["kinds"], ConfigProblem> => {
  const text = env["BUZZ_ACP_KINDS"]
  if (text === undefined) return Result.succeed(subscribe === "mentions" ? WAKING_KINDS : undefined)
  const list = text.split(",").map((part) => part.trim())
  return list.every((part) => /^\d{1,5}$/.test(part) && Number(part) <= 65_535)
    ? Result.succeed(list.map(Number))
    : usage(`invalid value '${text}' for '--kinds'`)
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const channels = (env: Read.Env): Result.Result<AcpConfig["channels"], ConfigProblem> => {
  const text = env["BUZZ_ACP_CHANNELS"]
  if (text === undefined) return Result.succeed(undefined)
  const list = text.split(",").map((part) => part.trim().toLowerCase())
  return list.every((part) => UUID.test(part))
    ? Result.succeed(list)
    : config(`BUZZ_ACP_CHANNELS holds something that is no UUID`)
}

const multipleEvents = (env: Read.Env, dedup: AcpConfig["dedup"]) =>
  Result.gen(function* () {
    const modes = ["queue", "steer", "interrupt", "owner-interrupt"] as const
    const mode = yield* Read.oneOf(env, "BUZZ_ACP_MULTIPLE_EVENT_HANDLING", modes, "queue")
    if (dedup === "drop" && mode !== "queue") return yield* config(`multiple event handling ${mode} needs dedup queue`)
    return mode
  })

const gate = (env: Read.Env) =>
  Result.gen(function* () {
    const modes = ["owner-only", "allowlist", "anyone", "nobody"] as const
    const respondTo = yield* Read.oneOf(env, "BUZZ_ACP_RESPOND_TO", modes, "owner-only")
    const text = env["BUZZ_ACP_RESPOND_TO_ALLOWLIST"] ?? ""
    const keys = text
      .split(",")
      .map((part) => part.trim().toLowerCase())
      .filter((part) => part !== "")
    if (respondTo === "allowlist" && keys.length === 0)
      return yield* config("BUZZ_ACP_RESPOND_TO=allowlist needs BUZZ_ACP_RESPOND_TO_ALLOWLIST")
    for (const key of keys) yield* hex64(key, "BUZZ_ACP_RESPOND_TO_ALLOWLIST")
    return { respondTo, allowlist: new Set(keys) as ReadonlySet<string> }
  })

const hex64 = (text: string | undefined, name: string): Result.Result<string | undefined, ConfigProblem> =>
  text === undefined || text === "" || /^[0-9a-f]{64}$/i.test(text)
    ? Result.succeed(text === "" ? undefined : text?.toLowerCase())
    : config(`${name} must be 64 hex digits`)
