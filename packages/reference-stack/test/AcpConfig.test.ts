import { assert, describe, it } from "@effect/vitest"
import * as AcpConfig from "@buzz-orchestra/reference-stack/buzz-acp/AcpConfig"
import { Result } from "effect"

const KEY = "1".repeat(64)
const CHANNEL = "11111111-1111-4111-8111-111111111111"

const parsed = (env: Record<string, string | undefined>) =>
  Result.getOrThrow(AcpConfig.parse({ BUZZ_PRIVATE_KEY: KEY, ...env }))

const refusal = (env: Record<string, string | undefined>) =>
  Result.match(AcpConfig.parse({ BUZZ_PRIVATE_KEY: KEY, ...env }), {
    onSuccess: () => ({ code: 0, stderr: "accepted" }),
    onFailure: AcpConfig.problemExit
  })

const args = (command: string, text?: string) =>
  parsed({ BUZZ_ACP_AGENT_COMMAND: command, ...(text === undefined ? {} : { BUZZ_ACP_AGENT_ARGS: text }) }).agentArgs

describe("AcpConfig", () => {
  it("has the defaults of the real program", () => {
    const { agentOwner, authTag, basePrompt, channels, initialMessage, privateKey, systemPrompt, ...rest } = parsed({})
    assert.deepStrictEqual(rest, {
      relayUrl: "ws://localhost:3000",
      agentCommand: "goose",
      agentArgs: ["acp"],
      mcpCommand: "",
      idleTimeoutSeconds: 900,
      maxTurnSeconds: 7200,
      agents: 1,
      mentionsOnly: true,
      kinds: [9, 46_010, 40_007],
      dedup: "queue",
      multipleEvents: "queue",
      ignoreSelf: true,
      contextMessageLimit: 12,
      maxTurnsPerSession: 0,
      presence: true,
      typing: true,
      respondTo: "owner-only",
      allowlist: new Set<string>()
    })
    for (const absent of [agentOwner, authTag, basePrompt, channels, initialMessage, systemPrompt])
      assert.isUndefined(absent)
    assert.notInclude(String(privateKey), KEY)
  })

  it("drops a lone acp for agents that take no such argument", () => {
    assert.deepStrictEqual(args("/opt/buzz/bin/buzz-agent"), [])
    assert.deepStrictEqual(args("/opt/buzz/bin/buzz-agent", ""), [])
    assert.deepStrictEqual(args("/usr/bin/goose"), ["acp"])
    assert.deepStrictEqual(args("node", "/a.mjs, --x"), ["/a.mjs", "--x"])
  })

  it("takes true and false for a boolean, and nothing else: exit 2", () => {
    assert.isFalse(parsed({ BUZZ_ACP_NO_TYPING: "true" }).typing)
    assert.isTrue(parsed({ BUZZ_ACP_NO_TYPING: "false" }).typing)
    for (const text of ["1", "yes", "", "TRUE"]) {
      const { code, stderr } = refusal({ BUZZ_ACP_NO_BASE_PROMPT: text })
      assert.strictEqual(code, 2, text)
      assert.include(stderr, "BUZZ_ACP_NO_BASE_PROMPT")
    }
  })

  it("refuses numbers, words and combinations as clap does: exit 2", () => {
    for (const env of [
      { BUZZ_PRIVATE_KEY: undefined },
      { BUZZ_ACP_AGENTS: "0" },
      { BUZZ_ACP_AGENTS: "33" },
      { BUZZ_ACP_IDLE_TIMEOUT: "" },
      { BUZZ_ACP_IDLE_TIMEOUT: "1.5" },
      { BUZZ_ACP_RESPOND_TO: "everyone" },
      { BUZZ_ACP_SYSTEM_PROMPT: "a", BUZZ_ACP_SYSTEM_PROMPT_FILE: "b" },
      { BUZZ_ACP_MEMORY: "true", BUZZ_ACP_NO_MEMORY: "true" }
    ])
      assert.strictEqual(refusal(env).code, 2, JSON.stringify(env))
  })

  it("refuses the rest of what is wrong with exit 1", () => {
    for (const [env, text] of [
      [{ BUZZ_RELAY_URL: "http://localhost:3000" }, "ws:// or wss://"],
      [{ BUZZ_ACP_IDLE_TIMEOUT: "60", BUZZ_ACP_MAX_TURN_DURATION: "60" }, "must be less than"],
      [{ BUZZ_ACP_MAX_TURN_DURATION: "604801" }, "exceeds"],
      [{ BUZZ_ACP_RESPOND_TO: "allowlist" }, "ALLOWLIST"],
      [{ BUZZ_ACP_RESPOND_TO_ALLOWLIST: "abc" }, "64 hex"],
      [{ BUZZ_ACP_CHANNELS: "general" }, "no UUID"],
      [{ BUZZ_ACP_DEDUP: "drop", BUZZ_ACP_MULTIPLE_EVENT_HANDLING: "interrupt" }, "needs dedup queue"]
    ] as const) {
      const { code, stderr } = refusal(env)
      assert.strictEqual(code, 1, JSON.stringify(env))
      assert.include(stderr, "Error: configuration error: ")
      assert.include(stderr, text)
    }
  })

  it("refuses what it does not do instead of ignoring it", () => {
    for (const env of [
      { BUZZ_ACP_SUBSCRIBE: "config" },
      { BUZZ_ACP_HEARTBEAT_INTERVAL: "60" },
      { BUZZ_ACP_RELAY_OBSERVER: "true" },
      { BUZZ_ACP_MEMORY: "true" },
      { BUZZ_ACP_PERSONA_PACK: "/p" },
      { BUZZ_ACP_MODEL: "m" }
    ])
      assert.include(refusal(env).stderr, "not part of the reference stack")
  })

  it("reads time limits with their minimum, and lists", () => {
    const config = parsed({
      BUZZ_ACP_IDLE_TIMEOUT: "0",
      BUZZ_ACP_MAX_TURN_DURATION: "0",
      BUZZ_ACP_CHANNELS: ` ${CHANNEL.toUpperCase()} `,
      BUZZ_ACP_RESPOND_TO: "allowlist",
      BUZZ_ACP_RESPOND_TO_ALLOWLIST: `${"A".repeat(64)}`,
      BUZZ_ACP_SUBSCRIBE: "all",
      BUZZ_ACP_KINDS: "9,7"
    })
    assert.deepStrictEqual([config.idleTimeoutSeconds, config.maxTurnSeconds], [1, 60])
    assert.deepStrictEqual(config.channels, [CHANNEL])
    assert.isTrue(config.allowlist.has("a".repeat(64)))
    assert.isFalse(config.mentionsOnly)
    assert.deepStrictEqual(config.kinds, [9, 7])
    assert.strictEqual(parsed({ BUZZ_ACP_TURN_TIMEOUT: "30" }).idleTimeoutSeconds, 30)
  })
})
