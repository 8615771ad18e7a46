import { assert, describe, it } from "@effect/vitest"
import * as AgentConfig from "@buzz-orchestra/reference-stack/buzz-agent/AgentConfig"
import * as McpEnvironment from "@buzz-orchestra/reference-stack/buzz-agent/McpEnvironment"
import { Redacted, Result } from "effect"

const valid = { BUZZ_AGENT_PROVIDER: "scripted", SCRIPTED_API_KEY: "key", SCRIPTED_PLAYBOOK: "/p.yaml" }

const refusal = (env: Record<string, string | undefined>): string =>
  Result.match(AgentConfig.parse({ ...valid, ...env }), { onSuccess: () => "accepted", onFailure: String })

describe("AgentConfig", () => {
  it("needs provider, key and playbook, and fills in the real defaults", () => {
    const config = Result.getOrThrow(AgentConfig.parse(valid))
    assert.strictEqual(config.playbook, "/p.yaml")
    assert.strictEqual(Redacted.value(config.apiKey), "key")
    assert.notInclude(JSON.stringify(config), '"key"')
    assert.strictEqual(config.maxRounds, 0)
    assert.strictEqual(config.toolTimeoutSeconds, 660)
    assert.isUndefined(config.systemPrompt)
  })

  it("refuses the providers of the real agent by name", () => {
    assert.include(
      refusal({ BUZZ_AGENT_PROVIDER: "anthropic" }),
      "BUZZ_AGENT_PROVIDER=anthropic needs the real buzz-agent"
    )
    assert.include(refusal({ BUZZ_AGENT_PROVIDER: undefined }), "required")
  })

  it("refuses blank keys, wrong numbers and contradictions", () => {
    assert.include(refusal({ SCRIPTED_API_KEY: " " }), "SCRIPTED_API_KEY")
    assert.include(refusal({ SCRIPTED_PLAYBOOK: "" }), "SCRIPTED_PLAYBOOK")
    assert.include(refusal({ BUZZ_AGENT_MAX_ROUNDS: "many" }), "BUZZ_AGENT_MAX_ROUNDS")
    assert.include(refusal({ BUZZ_AGENT_MAX_ROUNDS: "-1" }), "BUZZ_AGENT_MAX_ROUNDS")
    assert.include(refusal({ BUZZ_AGENT_MAX_OUTPUT_TOKENS: "200000" }), "must be greater")
    assert.include(refusal({ BUZZ_AGENT_SYSTEM_PROMPT: "a", BUZZ_AGENT_SYSTEM_PROMPT_FILE: "b" }), "exclude each other")
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
