/**
 * What `buzz-agent` reads from its environment. Pure; the variables are those of the real program plus the two of its
 * `scripted` provider.
 */
import { Redacted, Result } from "effect"

/** A valid configuration. */
export interface AgentConfig {
  /** Path of the playbook (`SCRIPTED_PLAYBOOK`). */
  readonly playbook: string
  /** `SCRIPTED_API_KEY`; never used, only required, as a real provider's key is. */
  readonly apiKey: Redacted.Redacted<string>
  /** Responses per prompt; 0 is no limit. */
  readonly maxRounds: number
  /** Seconds. */
  readonly toolTimeoutSeconds: number
  /** Seconds. */
  readonly mcpInitTimeoutSeconds: number
  /** For clients that send no system prompt; the text, or the path of a file with it. */
  readonly systemPrompt: { readonly text: string } | { readonly file: string } | undefined
}

type Env = Readonly<Record<string, string | undefined>>

/** Reads the environment. The failure is what the program prints after `config: `. */
export const parse = (env: Env): Result.Result<AgentConfig, string> =>
  Result.gen(function* () {
    yield* provider(env["BUZZ_AGENT_PROVIDER"])
    const apiKey = env["SCRIPTED_API_KEY"] ?? ""
    if (apiKey.trim() === "") return yield* Result.fail("SCRIPTED_API_KEY is required")
    const playbook = env["SCRIPTED_PLAYBOOK"] ?? ""
    if (playbook.trim() === "") return yield* Result.fail("SCRIPTED_PLAYBOOK is required: the path of a playbook")
    const maxOutput = yield* integer(env, "BUZZ_AGENT_MAX_OUTPUT_TOKENS", 65_536, 1)
    const maxContext = yield* integer(env, "BUZZ_AGENT_MAX_CONTEXT_TOKENS", 200_000, 1)
    if (maxContext <= maxOutput)
      return yield* Result.fail("BUZZ_AGENT_MAX_CONTEXT_TOKENS must be greater than BUZZ_AGENT_MAX_OUTPUT_TOKENS")
    return {
      playbook,
      apiKey: Redacted.make(apiKey, { label: "SCRIPTED_API_KEY" }),
      maxRounds: yield* integer(env, "BUZZ_AGENT_MAX_ROUNDS", 0, 0),
      toolTimeoutSeconds: yield* integer(env, "BUZZ_AGENT_TOOL_TIMEOUT_SECS", 660, 1),
      mcpInitTimeoutSeconds: yield* integer(env, "BUZZ_AGENT_MCP_INIT_TIMEOUT_SECS", 30, 1),
      systemPrompt: yield* systemPrompt(env)
    }
  })

const provider = (name: string | undefined): Result.Result<void, string> => {
  if (name === "scripted") return Result.succeed(undefined)
  if (name === undefined || name === "") return Result.fail("BUZZ_AGENT_PROVIDER is required")
  return Result.fail(
    `BUZZ_AGENT_PROVIDER=${name} needs the real buzz-agent; this one of the reference stack has the provider \`scripted\` only`
  )
}

const integer = (env: Env, name: string, fallback: number, minimum: number): Result.Result<number, string> => {
  const text = env[name]
  if (text === undefined) return Result.succeed(fallback)
  const value = /^\d{1,15}$/.test(text) ? Number(text) : -1
  return value >= minimum ? Result.succeed(value) : Result.fail(`${name} must be a whole number from ${minimum}`)
}

const systemPrompt = (env: Env): Result.Result<AgentConfig["systemPrompt"], string> => {
  const text = env["BUZZ_AGENT_SYSTEM_PROMPT"]
  const file = env["BUZZ_AGENT_SYSTEM_PROMPT_FILE"]
  if (text !== undefined && file !== undefined)
    return Result.fail("BUZZ_AGENT_SYSTEM_PROMPT and BUZZ_AGENT_SYSTEM_PROMPT_FILE exclude each other")
  return Result.succeed(text !== undefined ? { text } : file !== undefined ? { file } : undefined)
}
