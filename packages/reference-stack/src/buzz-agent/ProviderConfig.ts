/**
 * Who plays the model, as the environment says it. Pure; the variables are those of the real program plus the two of the
 * `scripted` provider.
 */
import { Redacted, Result } from "effect"

/** A playbook. */
export interface ScriptedConfig {
  readonly _tag: "Scripted"
  /** Path of the playbook (`SCRIPTED_PLAYBOOK`). */
  readonly playbook: string
  /** `SCRIPTED_API_KEY`; never used, only required, as a real provider's key is. */
  readonly apiKey: Redacted.Redacted<string>
}

/** The Messages API, at Anthropic or wherever `ANTHROPIC_BASE_URL` says. */
export interface AnthropicConfig {
  readonly _tag: "Anthropic"
  readonly apiKey: Redacted.Redacted<string>
  readonly model: string
  readonly baseUrl: string
  /** Value of the header `anthropic-version`. */
  readonly apiVersion: string
}

/** OpenAI, or a server that is compatible with it. */
export interface OpenAiConfig {
  readonly _tag: "OpenAi"
  readonly apiKey: Redacted.Redacted<string>
  readonly model: string
  readonly baseUrl: string
  /** `auto` is `responses` at openai.com and where the server asks for it, else `chat`. */
  readonly api: "auto" | "chat" | "responses"
}

export type HttpProviderConfig = AnthropicConfig | OpenAiConfig
export type ProviderConfig = ScriptedConfig | HttpProviderConfig

type Env = Readonly<Record<string, string | undefined>>

/** Reads the provider that `BUZZ_AGENT_PROVIDER` names. The failure is what the program prints after `config: `. */
export const parse = (env: Env): Result.Result<ProviderConfig, string> => {
  const name = env["BUZZ_AGENT_PROVIDER"]
  switch (name) {
    case "scripted":
      return scripted(env)
    case "anthropic":
      return anthropic(env)
    case "openai":
    case "openai-compat":
      return openAi(env)
    case undefined:
    case "":
      return Result.fail("BUZZ_AGENT_PROVIDER is required")
    default:
      return Result.fail(
        `BUZZ_AGENT_PROVIDER=${name} needs the real buzz-agent; this one of the reference stack has anthropic, openai, openai-compat and scripted`
      )
  }
}

/** What the log may say of a provider. */
export const describe = (config: ProviderConfig): string => {
  switch (config._tag) {
    case "Scripted":
      return `provider=scripted playbook=${config.playbook}`
    case "Anthropic":
      return `provider=anthropic model=${config.model} base_url=${withoutUserInfo(config.baseUrl)}`
    case "OpenAi":
      return `provider=openai model=${config.model} base_url=${withoutUserInfo(config.baseUrl)} api=${config.api}`
  }
}

const scripted = (env: Env) =>
  Result.gen(function* () {
    const apiKey = yield* key(env, "SCRIPTED_API_KEY")
    const playbook = env["SCRIPTED_PLAYBOOK"] ?? ""
    if (playbook.trim() === "") return yield* Result.fail("SCRIPTED_PLAYBOOK is required: the path of a playbook")
    return { _tag: "Scripted" as const, playbook, apiKey }
  })

const anthropic = (env: Env) =>
  Result.gen(function* () {
    return {
      _tag: "Anthropic" as const,
      apiKey: yield* key(env, "ANTHROPIC_API_KEY"),
      model: yield* model(env, "ANTHROPIC_MODEL"),
      baseUrl: yield* baseUrl(env, "ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
      apiVersion: env["ANTHROPIC_API_VERSION"] ?? "2023-06-01"
    }
  })

const openAi = (env: Env) =>
  Result.gen(function* () {
    const api = env["OPENAI_COMPAT_API"] ?? "auto"
    if (api !== "auto" && api !== "chat" && api !== "responses")
      return yield* Result.fail("OPENAI_COMPAT_API must be auto, chat or responses")
    return {
      _tag: "OpenAi" as const,
      apiKey: yield* key(env, "OPENAI_COMPAT_API_KEY"),
      model: yield* model(env, "OPENAI_COMPAT_MODEL"),
      baseUrl: yield* baseUrl(env, "OPENAI_COMPAT_BASE_URL", "https://api.openai.com/v1"),
      api
    } satisfies OpenAiConfig
  })

const key = (env: Env, name: string): Result.Result<Redacted.Redacted<string>, string> => {
  const text = env[name] ?? ""
  return text.trim() === "" ? Result.fail(`${name} is required`) : Result.succeed(Redacted.make(text, { label: name }))
}

const model = (env: Env, name: string): Result.Result<string, string> => {
  const text = env[name] ?? env["BUZZ_AGENT_MODEL"] ?? ""
  return text.trim() === "" ? Result.fail(`${name} is required (or BUZZ_AGENT_MODEL)`) : Result.succeed(text)
}

/** Without the slash at its end. A variable that is set and empty is taken as it stands, and is no URL. */
const baseUrl = (env: Env, name: string, fallback: string): Result.Result<string, string> => {
  const text = env[name] ?? fallback
  return /^https?:\/\/[^/]/.test(text) && URL.canParse(text)
    ? Result.succeed(text.replace(/\/+$/, ""))
    : Result.fail(`${name} must be a URL that begins with http:// or https://`)
}

const withoutUserInfo = (url: string): string => url.replace(/\/\/[^/@]*@/, "//")
