/**
 * What `buzz-agent` reads from its environment. Pure; names and defaults are those of the real program.
 */
import { Result } from "effect"
import * as ProviderConfig from "./ProviderConfig.ts"

/** A valid configuration. */
export interface AgentConfig {
  readonly provider: ProviderConfig.ProviderConfig
  readonly limits: ModelLimits
  /** Responses per prompt; 0 is no limit. */
  readonly maxRounds: number
  /** Seconds. */
  readonly toolTimeoutSeconds: number
  /** Seconds. */
  readonly mcpInitTimeoutSeconds: number
  /** For clients that send no system prompt; the text, or the path of a file with it. */
  readonly systemPrompt: { readonly text: string } | { readonly file: string } | undefined
  /** Variables that are set and that only the real program obeys. */
  readonly unheeded: ReadonlyArray<string>
}

/** What holds for a model behind HTTP. */
export interface ModelLimits {
  readonly maxOutputTokens: number
  /** The model's window; greater than `maxOutputTokens`. */
  readonly maxContextTokens: number
  /** Summaries that may take the place of the history of a session. */
  readonly maxHandoffs: number
  /** For one attempt, in seconds. */
  readonly timeoutSeconds: number
  /** Tool calls of one response that run beside each other. */
  readonly maxParallelTools: number
  /** Bytes of a tool's text that the model gets to see. */
  readonly maxResultBytes: number
}

type Env = Readonly<Record<string, string | undefined>>

/** Reads the environment. The failure is what the program prints after `config: `. */
export const parse = (env: Env): Result.Result<AgentConfig, string> =>
  Result.gen(function* () {
    const provider = yield* ProviderConfig.parse(env)
    return {
      provider,
      limits: yield* limits(env),
      maxRounds: yield* integer(env, "BUZZ_AGENT_MAX_ROUNDS", 0, 0),
      toolTimeoutSeconds: yield* integer(env, "BUZZ_AGENT_TOOL_TIMEOUT_SECS", 660, 1),
      mcpInitTimeoutSeconds: yield* integer(env, "BUZZ_AGENT_MCP_INIT_TIMEOUT_SECS", 30, 1),
      systemPrompt: yield* systemPrompt(env),
      unheeded: UNHEEDED.filter((name) => env[name] !== undefined)
    }
  })

/** A launcher may set them for every agent, so they are no reason not to start. */
const UNHEEDED = ["BUZZ_AGENT_THINKING_EFFORT", "MCP_HOOK_SERVERS"]

const limits = (env: Env): Result.Result<ModelLimits, string> =>
  Result.gen(function* () {
    const maxOutputTokens = yield* integer(env, "BUZZ_AGENT_MAX_OUTPUT_TOKENS", 65_536, 1)
    const maxContextTokens = yield* integer(env, "BUZZ_AGENT_MAX_CONTEXT_TOKENS", 200_000, 1)
    if (maxContextTokens <= maxOutputTokens)
      return yield* Result.fail("BUZZ_AGENT_MAX_CONTEXT_TOKENS must be greater than BUZZ_AGENT_MAX_OUTPUT_TOKENS")
    return {
      maxOutputTokens,
      maxContextTokens,
      maxHandoffs: yield* integer(env, "BUZZ_AGENT_MAX_HANDOFFS", 10, 0),
      timeoutSeconds: yield* integer(env, "BUZZ_AGENT_LLM_TIMEOUT_SECS", 240, 1),
      maxParallelTools: yield* integer(env, "BUZZ_AGENT_MAX_PARALLEL_TOOLS", 8, 1),
      maxResultBytes: yield* integer(env, "BUZZ_AGENT_MAX_TOOL_RESULT_TEXT_BYTES", 51_200, 1024, 8 * 1024 * 1024)
    }
  })

const integer = (
  env: Env,
  name: string,
  fallback: number,
  minimum: number,
  maximum = Number.MAX_SAFE_INTEGER
): Result.Result<number, string> => {
  const text = env[name]
  if (text === undefined) return Result.succeed(fallback)
  const value = /^\d{1,15}$/.test(text) ? Number(text) : -1
  const range = maximum === Number.MAX_SAFE_INTEGER ? `from ${minimum}` : `from ${minimum} to ${maximum}`
  return value >= minimum && value <= maximum
    ? Result.succeed(value)
    : Result.fail(`${name} must be a whole number ${range}`)
}

const systemPrompt = (env: Env): Result.Result<AgentConfig["systemPrompt"], string> => {
  const text = env["BUZZ_AGENT_SYSTEM_PROMPT"]
  const file = env["BUZZ_AGENT_SYSTEM_PROMPT_FILE"]
  if (text !== undefined && file !== undefined)
    return Result.fail("BUZZ_AGENT_SYSTEM_PROMPT and BUZZ_AGENT_SYSTEM_PROMPT_FILE exclude each other")
  return Result.succeed(text !== undefined ? { text } : file !== undefined ? { file } : undefined)
}
