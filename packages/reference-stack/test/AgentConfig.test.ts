import { assert, describe, it } from "@effect/vitest"
import * as AgentConfig from "@buzz-orchestra/reference-stack/buzz-agent/AgentConfig"
import * as McpEnvironment from "@buzz-orchestra/reference-stack/buzz-agent/McpEnvironment"
import * as ProviderConfig from "@buzz-orchestra/reference-stack/buzz-agent/ProviderConfig"
import { Redacted, Result } from "effect"

const scripted = { BUZZ_AGENT_PROVIDER: "scripted", SCRIPTED_API_KEY: "key", SCRIPTED_PLAYBOOK: "/p.yaml" }
const anthropic = { BUZZ_AGENT_PROVIDER: "anthropic", ANTHROPIC_API_KEY: "key", BUZZ_AGENT_MODEL: "m" }
const openAi = { BUZZ_AGENT_PROVIDER: "openai", OPENAI_COMPAT_API_KEY: "key", BUZZ_AGENT_MODEL: "m" }

const refusal = (env: Record<string, string | undefined>): string =>
  Result.match(AgentConfig.parse(env), { onSuccess: () => "accepted", onFailure: String })

describe("AgentConfig", () => {
  it("needs provider, key and playbook, and fills in the real defaults", () => {
    const config = Result.getOrThrow(AgentConfig.parse(scripted))
    assert.deepInclude(config.provider, { _tag: "Scripted", playbook: "/p.yaml" })
    assert.strictEqual(Redacted.value(config.provider.apiKey), "key")
    assert.notInclude(JSON.stringify(config), '"key"')
    assert.deepInclude(config, { maxRounds: 0, toolTimeoutSeconds: 660, systemPrompt: undefined, unheeded: [] })
    assert.deepStrictEqual(config.limits, {
      maxOutputTokens: 65_536,
      maxContextTokens: 200_000,
      maxHandoffs: 10,
      timeoutSeconds: 240,
      maxParallelTools: 8,
      maxResultBytes: 51_200
    })
    assert.include(refusal({ ...scripted, SCRIPTED_API_KEY: " " }), "SCRIPTED_API_KEY is required")
    assert.include(refusal({ ...scripted, SCRIPTED_PLAYBOOK: "" }), "SCRIPTED_PLAYBOOK is required")
  })

  it("knows the providers of the real agent by its variables", () => {
    const provider = (env: Record<string, string>) => Result.getOrThrow(AgentConfig.parse(env)).provider
    assert.deepInclude(provider(anthropic), {
      _tag: "Anthropic",
      model: "m",
      baseUrl: "https://api.anthropic.com",
      apiVersion: "2023-06-01"
    })
    const elsewhere = { ANTHROPIC_BASE_URL: "http://127.0.0.1:8080/", ANTHROPIC_MODEL: "own" }
    assert.deepInclude(provider({ ...anthropic, ...elsewhere }), { model: "own", baseUrl: "http://127.0.0.1:8080" })
    for (const name of ["openai", "openai-compat"])
      assert.deepInclude(provider({ ...openAi, BUZZ_AGENT_PROVIDER: name }), {
        _tag: "OpenAi",
        model: "m",
        baseUrl: "https://api.openai.com/v1",
        api: "auto"
      })
  })

  it("refuses a provider without key, model or a base URL that is one", () => {
    assert.include(refusal({ ...scripted, BUZZ_AGENT_PROVIDER: undefined }), "BUZZ_AGENT_PROVIDER is required")
    assert.include(
      refusal({ ...scripted, BUZZ_AGENT_PROVIDER: "databricks" }),
      "BUZZ_AGENT_PROVIDER=databricks needs the real buzz-agent"
    )
    assert.include(refusal({ ...anthropic, ANTHROPIC_API_KEY: " " }), "ANTHROPIC_API_KEY is required")
    assert.include(refusal({ ...openAi, BUZZ_AGENT_MODEL: undefined }), "OPENAI_COMPAT_MODEL is required")
    assert.include(refusal({ ...openAi, OPENAI_COMPAT_BASE_URL: "" }), "OPENAI_COMPAT_BASE_URL must be a URL")
    assert.include(refusal({ ...openAi, OPENAI_COMPAT_API: "legacy" }), "auto, chat or responses")
  })

  it("refuses wrong numbers and contradictions, and names what it does not heed", () => {
    assert.include(refusal({ ...scripted, BUZZ_AGENT_MAX_ROUNDS: "many" }), "BUZZ_AGENT_MAX_ROUNDS")
    assert.include(refusal({ ...scripted, BUZZ_AGENT_MAX_ROUNDS: "-1" }), "BUZZ_AGENT_MAX_ROUNDS")
    assert.include(refusal({ ...scripted, BUZZ_AGENT_MAX_OUTPUT_TOKENS: "200000" }), "must be greater")
    const size = "BUZZ_AGENT_MAX_TOOL_RESULT_TEXT_BYTES"
    assert.include(refusal({ ...scripted, [size]: "1023" }), `${size} must be a whole number from 1024 to 8388608`)
    const both = { BUZZ_AGENT_SYSTEM_PROMPT: "a", BUZZ_AGENT_SYSTEM_PROMPT_FILE: "b" }
    assert.include(refusal({ ...scripted, ...both }), "exclude each other")
    const config = Result.getOrThrow(AgentConfig.parse({ ...scripted, BUZZ_AGENT_THINKING_EFFORT: "high" }))
    assert.deepStrictEqual(config.unheeded, ["BUZZ_AGENT_THINKING_EFFORT"])
  })

  it("tells of a provider where it is and never with which key", () => {
    const { provider } = Result.getOrThrow(
      AgentConfig.parse({ ...openAi, OPENAI_COMPAT_BASE_URL: "https://me:secret@llm.test/v1" })
    )
    assert.strictEqual(
      ProviderConfig.describe(provider),
      "provider=openai model=m base_url=https://llm.test/v1 api=auto"
    )
  })
})

describe("McpEnvironment", () => {
  it("passes on the short list only, and lets the session win", () => {
    const env = {
      PATH: "/bin",
      HOME: "/h",
      SCRIPTED_API_KEY: "key",
      HTTP_PROXY: "p",
      BUZZ_RELAY_URL: "old",
      BUZZ_AUTH_TAG: "t"
    }
    assert.deepStrictEqual(McpEnvironment.compose(env, [{ name: "BUZZ_RELAY_URL", value: "new" }]), {
      PATH: "/bin",
      HOME: "/h",
      BUZZ_RELAY_URL: "new"
    })
  })
})
