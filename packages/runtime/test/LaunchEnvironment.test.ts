import { assert, describe, it } from "@effect/vitest"
import { IDENTITY_VARIABLES } from "@buzz-orchestra/manifest/EndpointLaunchConfig"
import { testIdentity } from "@buzz-orchestra/relay/testing/TestIdentity"
import { layoutAt } from "@buzz-orchestra/runtime/Layout"
import { launchEnvironment } from "@buzz-orchestra/runtime/LaunchEnvironment"
import { Redacted, Result, Schema } from "effect"
import { API_KEY, launchInput, variables } from "./support/launch.ts"

const endpoint = (env: Record<string, string>, fields: { api_key_env?: string } = {}) => ({
  endpoints: { model: { provider: "anthropic", api_key_env: "ANTHROPIC_API_KEY", env, ...fields } }
})

const refusal = (fields: Parameters<typeof launchInput>[0]) =>
  Result.match(launchEnvironment(launchInput(fields)), { onSuccess: () => undefined, onFailure: (reason) => reason })

const REQUIRED_LOG = "buzz_acp=info,pool::prompt=info,acp::usage=debug,acp::tool=info,acp::stream=info,acp::wire=off"
const SECRET = "2".padStart(64, "0")

describe("LaunchEnvironment", () => {
  it("is this, and nothing else, for an agent of whom nobody chose anything", () => {
    assert.deepStrictEqual(variables(), {
      BUZZ_ACP_MAX_TURN_DURATION: "12000",
      BUZZ_ACP_IDLE_TIMEOUT: "11999",
      RUST_LOG: REQUIRED_LOG,
      NO_COLOR: "1",
      HOME: "/home/agent",
      NO_PROXY: "127.0.0.1,localhost",
      SSL_CERT_FILE: "/opt/buzz/ca-certificates.crt",
      BUZZ_RELAY_URL: "ws://localhost:3600",
      BUZZ_PRIVATE_KEY: SECRET,
      NOSTR_PRIVATE_KEY: SECRET,
      BUZZ_ACP_AGENT_COMMAND: "/opt/buzz/bin/buzz-agent",
      BUZZ_ACP_AGENT_ARGS: "",
      BUZZ_ACP_MCP_COMMAND: "/opt/buzz/bin/buzz-dev-mcp",
      BUZZ_ACP_CHANNELS: "99999999-8888-4777-8666-555555555555",
      BUZZ_ACP_SUBSCRIBE: "mentions",
      BUZZ_ACP_RESPOND_TO: "anyone",
      BUZZ_ACP_NO_MEMORY: "true",
      BUZZ_ACP_SYSTEM_PROMPT_FILE: "/opt/buzz/prompts/lead-1.system-prompt.md",
      BUZZ_AGENT_PROVIDER: "anthropic",
      BUZZ_AGENT_MODEL: "model",
      BUZZ_AGENT_THINKING_EFFORT: "medium",
      BUZZ_AGENT_MAX_ROUNDS: "0",
      BUZZ_AGENT_NO_HINTS: "1",
      ANTHROPIC_API_KEY: API_KEY
    })
  })

  it("keeps every secret redacted", () => {
    const identity = { ...testIdentity(2), authTag: Redacted.make('["auth","owner","","signature"]') }
    const input = launchInput()
    const env = Result.getOrThrow(launchEnvironment({ ...input, credential: { ...input.credential, identity } }))
    for (const name of ["BUZZ_PRIVATE_KEY", "NOSTR_PRIVATE_KEY", "BUZZ_AUTH_TAG", "ANTHROPIC_API_KEY"])
      assert.isTrue(Redacted.isRedacted(env[name]), name)
    const text = JSON.stringify(env)
    for (const secret of [SECRET, API_KEY, "signature"]) assert.notInclude(text, secret)
  })

  it("has an attestation only when an owner gave one", () => {
    assert.notProperty(variables(), "BUZZ_AUTH_TAG")
    const credential = {
      ...launchInput().credential,
      identity: { ...testIdentity(2), authTag: Redacted.make('["auth"]') }
    }
    assert.strictEqual(variables({ credential })["BUZZ_AUTH_TAG"], '["auth"]')
  })

  it("has no key variable for an endpoint that needs none, unless the endpoint sets it", () => {
    const credential = { ...launchInput().credential, apiKey: undefined }
    assert.notProperty(variables({ credential }), "ANTHROPIC_API_KEY")
    assert.strictEqual(
      variables({ credential, ...endpoint({ ANTHROPIC_API_KEY: "none" }) })["ANTHROPIC_API_KEY"],
      "none"
    )
  })

  it("follows the layout wherever it lies", () => {
    const env = variables({ layout: layoutAt("/home/agent/.buzz") })
    assert.strictEqual(env["SSL_CERT_FILE"], "/home/agent/.buzz/ca-certificates.crt")
    assert.strictEqual(env["BUZZ_ACP_AGENT_COMMAND"], "/home/agent/.buzz/bin/buzz-agent")
    assert.notInclude(Object.values(env).join(" "), "/opt/buzz/bin")
  })
})

describe("LaunchEnvironment, what the condition chooses", () => {
  it.each([
    ["max_calls", { budget: { max_calls: 7 } }, { BUZZ_AGENT_MAX_ROUNDS: "7" }],
    [
      "token limits",
      { generation: { max_output_tokens: 4096, context_window_tokens: 200_000 } },
      { BUZZ_AGENT_MAX_OUTPUT_TOKENS: "4096", BUZZ_AGENT_MAX_CONTEXT_TOKENS: "200000" }
    ],
    ["compaction by percentage", { generation: { compact_at_percent: 80 } }, { BUZZ_AGENT_HANDOFF_PERCENT: "80" }],
    ["compaction by tokens", { generation: { compact_at_tokens: 9000 } }, { BUZZ_AGENT_HANDOFF_AT_TOKENS: "9000" }],
    [
      "compaction by both",
      { generation: { compact_at_percent: 80, compact_at_tokens: 9000 } },
      { BUZZ_AGENT_HANDOFF_PERCENT: "80", BUZZ_AGENT_HANDOFF_AT_TOKENS: "9000" }
    ],
    ["effort", { generation: { thinking_effort: "xhigh" } }, { BUZZ_AGENT_THINKING_EFFORT: "xhigh" }],
    ["no platform prompt", { include_platform_prompt: false }, { BUZZ_ACP_NO_BASE_PROMPT: "true" }]
  ] as const)("%s", (_, fields, expected) => {
    assert.deepStrictEqual(variables({ class: fields }), { ...variables(), ...expected })
  })

  it("leaves the effort to the agent in trunk, unless it is chosen", () => {
    assert.notProperty(variables({ dialect: "trunk" }), "BUZZ_AGENT_THINKING_EFFORT")
    const chosen = variables({ dialect: "trunk", class: { generation: { thinking_effort: "low" } } })
    assert.strictEqual(chosen["BUZZ_AGENT_THINKING_EFFORT"], "low")
  })

  it("limits a turn by the runtime's setting where the class sets nothing", () => {
    assert.strictEqual(variables({ defaultMaxRounds: 32 })["BUZZ_AGENT_MAX_ROUNDS"], "32")
  })

  it("goose gets the same model and effort under its own names", () => {
    const env = variables({
      class: { harness: "goose", generation: { extra: { goose_system_prompt_mode: "set" } } }
    })
    assert.deepInclude(env, {
      BUZZ_ACP_AGENT_COMMAND: "/opt/buzz/bin/goose",
      BUZZ_ACP_AGENT_ARGS: "acp",
      GOOSE_PROVIDER: "anthropic",
      GOOSE_MODEL: "model",
      GOOSE_THINKING_EFFORT: "medium",
      OPENAI_API_KEY: API_KEY,
      BUZZ_ACP_GOOSE_SYSTEM_PROMPT_MODE: "set",
      BUZZ_ACP_MCP_COMMAND: "/opt/buzz/bin/buzz-dev-mcp"
    })
    assert.notInclude(Object.keys(env).join(" "), "BUZZ_AGENT_")
    assert.notProperty(variables({ class: { harness: "goose" } }), "BUZZ_ACP_GOOSE_SYSTEM_PROMPT_MODE")
  })

  it("codex gets the same model and effort as its configuration", () => {
    const env = variables({ class: { harness: "codex", generation: { thinking_effort: "high" } } })
    assert.deepInclude(env, {
      BUZZ_ACP_AGENT_COMMAND: "/opt/buzz/bin/codex-acp",
      BUZZ_ACP_AGENT_ARGS: "",
      CODEX_PATH: "/opt/buzz/bin/codex",
      CODEX_API_KEY: API_KEY,
      OPENAI_API_KEY: API_KEY,
      DEFAULT_AUTH_REQUEST: '{"methodId":"api-key"}',
      NO_BROWSER: "1",
      INITIAL_AGENT_MODE: "agent-full-access",
      LD_LIBRARY_PATH: "/opt/buzz/lib/x86_64",
      CODEX_CONFIG:
        '{"model":"model","model_reasoning_effort":"high","approval_policy":"never","sandbox_mode":"danger-full-access"}'
    })
    assert.notInclude(Object.keys(env).join(" "), "BUZZ_AGENT_")
    const unset = variables({ dialect: "trunk", class: { harness: "codex" } })
    assert.notInclude(unset["CODEX_CONFIG"], "effort")
  })
})

describe("LaunchEnvironment, what the deployment chooses", () => {
  it("copies the endpoint's variables", () => {
    const env = variables(endpoint({ DATABRICKS_HOST: "https://example.test", ANTHROPIC_BASE_URL: "http://llm" }))
    assert.deepInclude(env, { DATABRICKS_HOST: "https://example.test", ANTHROPIC_BASE_URL: "http://llm" })
  })

  it("does not let an endpoint undo what the launch needs", () => {
    const undone = {
      NO_COLOR: "",
      HOME: "/root",
      SSL_CERT_FILE: "/x",
      SSL_CERT_DIR: "/etc/ssl",
      BUZZ_ACP_RESPOND_TO: "nobody"
    }
    assert.deepStrictEqual(variables(endpoint(undone)), variables())
  })

  it.each(IDENTITY_VARIABLES)("refuses an endpoint that sets %s, also as the name of its key", (name) => {
    for (const fields of [endpoint({ [name]: "evil" }), endpoint({}, { api_key_env: name })]) {
      const reason = refusal(fields)
      assert.deepInclude(reason, { _tag: "EndpointOverridesIdentity", endpoint: "model", variables: [name] })
      assert.match(reason?.message ?? "", /identity/)
    }
  })

  it("refuses an agent without an endpoint, and an endpoint without an entry", () => {
    const credential = launchInput().credential
    assert.deepInclude(refusal({ credential: { ...credential, endpoint: "" } }), {
      _tag: "EndpointEmpty",
      agentId: "lead-1"
    })
    for (const name of ["other", "toString"])
      assert.deepInclude(refusal({ credential: { ...credential, endpoint: name } }), {
        _tag: "EndpointNotConfigured",
        agentId: "lead-1",
        endpoint: name,
        configured: ["model"]
      })
  })

  it("puts the relay's host beside what is already reached without a proxy", () => {
    const host = "relay.example.test"
    const env = variables({
      handle: { ...launchInput().handle, relayUrl: `wss://${host}:3600` },
      inheritedNoProxy: "a.test, b.test",
      ...endpoint({ NO_PROXY: "b.test,c.test" })
    })
    assert.strictEqual(env["NO_PROXY"], `a.test,b.test,c.test,127.0.0.1,localhost,${host}`)
  })

  it("extends the operator's and the endpoint's log directives", () => {
    const env = variables({ operatorRustLog: "buzz_acp=off,hyper=debug", ...endpoint({ RUST_LOG: "warn" }) })
    assert.strictEqual(env["RUST_LOG"], `warn,buzz_acp=off,hyper=debug,${REQUIRED_LOG}`)
  })
})

/** Idle timeout and cap for a trial of so many seconds. */
const clocks = (trialTimeoutSeconds: number, env: Record<string, string> = {}) => {
  const all = variables({ trialTimeoutSeconds, ...endpoint(env) })
  return [all["BUZZ_ACP_IDLE_TIMEOUT"], all["BUZZ_ACP_MAX_TURN_DURATION"]]
}

describe("LaunchEnvironment, the clocks of a turn", () => {
  const IDLE = "BUZZ_ACP_IDLE_TIMEOUT"
  const CAP = "BUZZ_ACP_MAX_TURN_DURATION"

  it("let one turn last as long as the trial, and are absent without a budget", () => {
    assert.deepStrictEqual(clocks(12_000), ["11999", "12000"])
    assert.deepStrictEqual(clocks(0), [undefined, undefined])
    assert.deepStrictEqual(clocks(1), ["1", "2"])
    assert.deepStrictEqual(clocks(1_000_000), ["604799", "604800"])
  })

  it("follow each other when the endpoint sets one", () => {
    assert.deepStrictEqual(clocks(1800, { [CAP]: "600" }), ["599", "600"])
    assert.deepStrictEqual(clocks(300, { [IDLE]: "900" }), ["900", "901"])
    assert.deepStrictEqual(clocks(0, { [CAP]: "600" }), ["599", "600"])
  })

  it.each([
    { [IDLE]: "600", [CAP]: "600" },
    { [IDLE]: "soon" },
    { [IDLE]: "" },
    { [CAP]: "1" },
    { [CAP]: "604801" },
    { [CAP]: "-5" }
  ])("that an agent would refuse are refused before: %j", (env) => {
    assert.strictEqual(refusal(endpoint(env as Record<string, string>))?._tag, "ConfigurationOutOfBounds")
  })

  const Seconds = Schema.Int.check(Schema.isBetween({ minimum: -1, maximum: 700_000 }))
  it.prop(
    "idle stays below the cap, and both within what an agent accepts",
    { timeout: Seconds, idle: Schema.UndefinedOr(Seconds), cap: Schema.UndefinedOr(Seconds) },
    ({ cap, idle, timeout }) => {
      const env = {
        ...(idle === undefined ? {} : { [IDLE]: `${idle}` }),
        ...(cap === undefined ? {} : { [CAP]: `${cap}` })
      }
      const result = launchEnvironment(launchInput({ trialTimeoutSeconds: timeout, ...endpoint(env) }))
      if (Result.isFailure(result)) return assert.strictEqual(result.failure._tag, "ConfigurationOutOfBounds")
      const { [CAP]: most, [IDLE]: least } = result.success
      if (most === undefined) return assert.isTrue(least === undefined && timeout <= 0)
      assert.isBelow(Number(least), Number(most))
      assert.isAtLeast(Number(least), 1)
      assert.isAtMost(Number(most), 604_800)
    }
  )

  const Name = Schema.String.check(Schema.isPattern(/^[A-Z][A-Z_]{0,6}$/))
  it.prop(
    "no value is empty where nobody wrote an empty one, nor the name of nothing",
    { env: Schema.Record(Name, Schema.String) },
    ({ env }) => {
      const all = variables(endpoint(env))
      for (const [name, value] of Object.entries(all))
        if (!Object.hasOwn(env, name) && name !== "BUZZ_ACP_AGENT_ARGS")
          assert.notInclude(["", "null", "None", "undefined"], value)
    }
  )
})
