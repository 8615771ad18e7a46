/**
 * Every variable an agent is launched with. Pure: the table is the whole truth, nothing is inherited from this process.
 *
 * Rows further down override rows further up. A variable is there only because the condition, the deployment or the launch
 * contract chose it: what nobody chose is absent, never empty and never `None`.
 */
import type { Dialect } from "@buzz-orchestra/manifest/Dialect"
import {
  type EndpointLaunch,
  type EndpointLaunchConfig,
  IDENTITY_VARIABLES
} from "@buzz-orchestra/manifest/EndpointLaunchConfig"
import type { AgentClass } from "@buzz-orchestra/manifest/ExperimentManifest"
import type { AgentCredential, TrialHandle } from "@buzz-orchestra/relay/TrialHandle"
import { type Redacted, Result } from "effect"
import type { EnvironmentFacts, EnvironmentVariables } from "./EnvironmentService.ts"
import type { Layout } from "./Layout.ts"
import {
  ConfigurationOutOfBounds,
  EndpointEmpty,
  EndpointNotConfigured,
  EndpointOverridesIdentity,
  type LaunchEnvironmentReason
} from "./RuntimeLaunchError.ts"
import * as RustLog from "./RustLog.ts"

/** Everything the variables depend on. */
export interface LaunchEnvironmentInput {
  readonly dialect: Dialect
  readonly agentClass: AgentClass
  readonly credential: AgentCredential
  readonly handle: Pick<TrialHandle, "relayUrl" | "channelId">
  /** By endpoint name; the agent's own entry is used. */
  readonly endpoints: EndpointLaunchConfig
  readonly layout: Layout
  readonly facts: Pick<EnvironmentFacts, "homeDirectory">
  /** One turn may last as long as the whole trial. */
  readonly trialTimeoutSeconds: number
  /** Model calls per turn for a class that sets none; 0 means unbounded. */
  readonly defaultMaxRounds: number
  /** The composed system prompt inside the environment. */
  readonly promptPath: string
  /** Log directives of the operator. */
  readonly operatorRustLog: string | undefined
  /** `NO_PROXY` as the environment has it already. */
  readonly inheritedNoProxy: string | undefined
}

/** `undefined` removes what a row further up set. */
type Rows = ReadonlyArray<readonly [name: string, value: string | Redacted.Redacted<string> | undefined]>

/** The longest turn `buzz-acp` accepts, in seconds. */
const LONGEST_TURN_SECONDS = 604_800

/** The variables of one agent. Secrets stay `Redacted`. */
export const launchEnvironment = (
  input: LaunchEnvironmentInput
): Result.Result<EnvironmentVariables, LaunchEnvironmentReason> =>
  Result.gen(function* () {
    const endpoint = yield* endpointOf(input.credential, input.endpoints)
    const rows: Rows = [
      ...(yield* turnClock(input.trialTimeoutSeconds, endpoint.env ?? {})),
      ...hostRows(input, endpoint.env ?? {}),
      ...acpRows(input),
      ...harnessRows(input, endpoint),
      ...when(endpoint.api_key_env, input.credential.apiKey)
    ]
    return Object.fromEntries(
      [...new Map(rows)].flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
    )
  })

/** The launch configuration of an agent's endpoint. It may not touch what makes the agent who it is. */
export const endpointOf = (
  credential: Pick<AgentCredential, "agentId" | "endpoint">,
  endpoints: EndpointLaunchConfig
): Result.Result<EndpointLaunch, EndpointEmpty | EndpointNotConfigured | EndpointOverridesIdentity> => {
  const { agentId, endpoint } = credential
  if (endpoint.trim() === "") return Result.fail(new EndpointEmpty({ agentId }))
  const launch = Object.hasOwn(endpoints, endpoint) ? endpoints[endpoint] : undefined
  if (launch === undefined)
    return Result.fail(new EndpointNotConfigured({ agentId, endpoint, configured: Object.keys(endpoints).toSorted() }))
  const names = new Set([...Object.keys(launch.env ?? {}), launch.api_key_env])
  const variables = IDENTITY_VARIABLES.filter((name) => names.has(name))
  return variables.length === 0
    ? Result.succeed(launch)
    : Result.fail(new EndpointOverridesIdentity({ endpoint, variables }))
}

const CAP = "BUZZ_ACP_MAX_TURN_DURATION"
const IDLE = "BUZZ_ACP_IDLE_TIMEOUT"

/**
 * The endpoint's variables, and the two clocks of a turn, which the endpoint may set. An agent refuses to start unless idle
 * timeout < cap, so a clock that the endpoint leaves open follows the one it sets.
 */
const turnClock = (
  trialTimeoutSeconds: number,
  env: Readonly<Record<string, string>>
): Result.Result<Rows, ConfigurationOutOfBounds> =>
  Result.gen(function* () {
    const rows: Rows = Object.entries(env)
    const idleChosen = yield* seconds(IDLE, env)
    const capChosen = yield* seconds(CAP, env)
    if (idleChosen !== undefined && capChosen !== undefined && idleChosen >= capChosen)
      return yield* Result.fail(
        new ConfigurationOutOfBounds({ setting: IDLE, value: `${idleChosen}`, expected: `below ${CAP} (${capChosen})` })
      )
    if (trialTimeoutSeconds <= 0 && capChosen === undefined && idleChosen === undefined) return rows
    const trial = Math.min(trialTimeoutSeconds, LONGEST_TURN_SECONDS)
    const cap = capChosen ?? Math.max(trial, (idleChosen ?? 1) + 1)
    const idle = idleChosen ?? (trial > 0 ? Math.min(trial - 1, cap - 1) : cap - 1)
    return [...rows, [CAP, `${cap}`], [IDLE, `${Math.max(1, idle)}`]]
  })

const seconds = (
  name: string,
  env: Readonly<Record<string, string>>
): Result.Result<number | undefined, ConfigurationOutOfBounds> => {
  const value = Object.hasOwn(env, name) ? env[name] : undefined
  if (value === undefined) return Result.succeed(undefined)
  const limit = name === CAP ? { least: 2, most: LONGEST_TURN_SECONDS } : { least: 1, most: LONGEST_TURN_SECONDS - 1 }
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
  return number >= limit.least && number <= limit.most
    ? Result.succeed(number)
    : Result.fail(
        new ConfigurationOutOfBounds({
          setting: name,
          value,
          expected: `whole seconds from ${limit.least} to ${limit.most}`
        })
      )
}

/** What every program in the environment needs to know about where it runs. */
const hostRows = (input: LaunchEnvironmentInput, env: Readonly<Record<string, string>>): Rows => [
  [
    "RUST_LOG",
    RustLog.compose([env["RUST_LOG"], input.operatorRustLog].filter((text) => text !== undefined).join(","))
  ],
  ["NO_COLOR", "1"],
  ["HOME", input.facts.homeDirectory],
  ["NO_PROXY", noProxy([input.inheritedNoProxy, env["NO_PROXY"]], input.handle.relayUrl)],
  ["SSL_CERT_FILE", input.layout.caBundle],
  // TLS clients would read it beside, or instead of, the file.
  ["SSL_CERT_DIR", undefined]
]

const acpRows = ({ agentClass, credential, handle, layout, promptPath }: LaunchEnvironmentInput): Rows => [
  ["BUZZ_RELAY_URL", handle.relayUrl],
  ["BUZZ_PRIVATE_KEY", credential.identity.secretKey],
  ["NOSTR_PRIVATE_KEY", credential.identity.secretKey],
  ["BUZZ_AUTH_TAG", credential.identity.authTag],
  ["BUZZ_ACP_MCP_COMMAND", `${layout.bin}/buzz-dev-mcp`],
  ["BUZZ_ACP_CHANNELS", handle.channelId],
  ["BUZZ_ACP_SUBSCRIBE", "mentions"],
  // The product answers its owner only.
  ["BUZZ_ACP_RESPOND_TO", "anyone"],
  ["BUZZ_ACP_NO_MEMORY", "true"],
  ["BUZZ_ACP_SYSTEM_PROMPT_FILE", promptPath],
  // Its parser takes `true` and `false` only; `1` ends the agent.
  ...when("BUZZ_ACP_NO_BASE_PROMPT", agentClass.include_platform_prompt ? undefined : "true")
]

const harnessRows = (input: LaunchEnvironmentInput, endpoint: EndpointLaunch): Rows => {
  const { agentClass, credential, dialect, layout } = input
  const effort = agentClass.generation.thinking_effort ?? (dialect === "study" ? "medium" : undefined)
  switch (agentClass.harness) {
    case "buzz-agent":
      return buzzAgentRows(input, endpoint, effort)
    case "goose":
      return [
        ["BUZZ_ACP_AGENT_COMMAND", `${layout.bin}/goose`],
        ["BUZZ_ACP_AGENT_ARGS", "acp"],
        ["GOOSE_PROVIDER", endpoint.provider],
        ["GOOSE_MODEL", credential.endpoint],
        ...when("GOOSE_THINKING_EFFORT", effort),
        ...when("OPENAI_API_KEY", credential.apiKey),
        ...when("BUZZ_ACP_GOOSE_SYSTEM_PROMPT_MODE", textOf(agentClass.generation.extra["goose_system_prompt_mode"]))
      ]
    case "codex":
      return [
        ["BUZZ_ACP_AGENT_COMMAND", `${layout.bin}/codex-acp`],
        ["BUZZ_ACP_AGENT_ARGS", ""],
        ["CODEX_PATH", `${layout.bin}/codex`],
        ...when("CODEX_API_KEY", credential.apiKey),
        ...when("OPENAI_API_KEY", credential.apiKey),
        ["DEFAULT_AUTH_REQUEST", JSON.stringify({ methodId: "api-key" })],
        ["NO_BROWSER", "1"],
        ["INITIAL_AGENT_MODE", "agent-full-access"],
        ["LD_LIBRARY_PATH", `${layout.root}/lib/x86_64`],
        [
          "CODEX_CONFIG",
          JSON.stringify({
            model: credential.endpoint,
            // `JSON.stringify` leaves it out when nobody chose an effort.
            model_reasoning_effort: effort,
            approval_policy: "never",
            sandbox_mode: "danger-full-access"
          })
        ]
      ]
  }
}

const buzzAgentRows = (
  { agentClass, credential, defaultMaxRounds, layout }: LaunchEnvironmentInput,
  endpoint: EndpointLaunch,
  effort: string | undefined
): Rows => {
  const { budget, generation } = agentClass
  return [
    ["BUZZ_ACP_AGENT_COMMAND", `${layout.bin}/buzz-agent`],
    // Left out, `buzz-acp` would pass `acp`.
    ["BUZZ_ACP_AGENT_ARGS", ""],
    ["BUZZ_AGENT_PROVIDER", endpoint.provider],
    ["BUZZ_AGENT_MODEL", credential.endpoint],
    ...when("BUZZ_AGENT_THINKING_EFFORT", effort),
    ...when("BUZZ_AGENT_MAX_OUTPUT_TOKENS", generation.max_output_tokens),
    ...when("BUZZ_AGENT_MAX_CONTEXT_TOKENS", generation.context_window_tokens),
    ...when("BUZZ_AGENT_HANDOFF_PERCENT", generation.compact_at_percent),
    ...when("BUZZ_AGENT_HANDOFF_AT_TOKENS", generation.compact_at_tokens),
    ["BUZZ_AGENT_MAX_ROUNDS", `${budget.max_calls ?? defaultMaxRounds}`],
    // The task's files must not be able to instruct the agent.
    ["BUZZ_AGENT_NO_HINTS", "1"]
  ]
}

/** A row, if somebody chose a value. */
const when = (name: string, value: string | number | Redacted.Redacted<string> | null | undefined): Rows =>
  value === null || value === undefined ? [] : [[name, typeof value === "number" ? `${value}` : value]]

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

/** The lists that are there already, loopback, and the relay's host: agents reach it directly or not at all. */
const noProxy = (lists: ReadonlyArray<string | undefined>, relayUrl: string): string => {
  const host = URL.parse(relayUrl)?.hostname.replaceAll(/^\[|\]$/g, "") ?? ""
  const entries = lists.flatMap((list) => (list ?? "").split(",")).map((entry) => entry.trim())
  return [...new Set([...entries, "127.0.0.1", "localhost", host])].filter((entry) => entry !== "").join(",")
}
