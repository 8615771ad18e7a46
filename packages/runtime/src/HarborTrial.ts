/**
 * `config.json` and `result.json`: a trial as Harbor's tools read it. Field names and meanings are those of Harbor 0.22's
 * `TrialConfig` and `TrialResult`. A trial with an error may have a reward all the same, and no reward is not a reward of zero.
 * Pure.
 */
import { sha256Text } from "./internal/sha256.ts"
import type { Receipt } from "./Receipt.ts"
import type { TrialSummary } from "./TrialSummary.ts"
import type { Outcome } from "./TrialEvent.ts"
import * as TrialTiming from "./TrialTiming.ts"

/** The name under which Harbor's tools know the team. */
export const AGENT_NAME = "buzz-orchestra"
/** Of this package. */
export const AGENT_VERSION = "0.1.0"

/** What a trial was to run, as far as it is no secret. */
export interface ConfigInput {
  /** Of the task; a trial without one has the name of its condition. */
  readonly taskName: string
  /** Absolute path of the trial directory. */
  readonly directory: string
  readonly runId: string
  readonly trialId: string
  readonly relayUrl: string
  readonly condition: string
  readonly manifestSha256: string
  /** Every model revision of the roster. */
  readonly modelRevisions: ReadonlyArray<string>
  readonly timeoutSeconds: number
  readonly instruction: string
  readonly environment: TrialSummary["environment"]
  /** Variables that hold API keys; Harbor writes a secret as a reference to its variable. */
  readonly apiKeyVariables: ReadonlyArray<string>
  /** The task whose verifier grades what happened on the relay; `undefined` where none does. */
  readonly evidenceFor: string | undefined
}

/** The trial's configuration, defaults left out. */
export const trialConfig = (input: ConfigInput) => ({
  task: { name: taskId(input.taskName) },
  trial_name: nameOf(input.directory),
  trials_dir: parentOf(input.directory),
  agent: {
    name: AGENT_NAME,
    ...modelName(input.modelRevisions),
    override_timeout_sec: input.timeoutSeconds,
    kwargs: {
      condition: input.condition,
      manifest_sha256: input.manifestSha256,
      run_id: input.runId,
      trial_id: input.trialId,
      relay_url: input.relayUrl,
      ...(input.evidenceFor === undefined ? {} : { evidence_for: input.evidenceFor })
    },
    ...(input.apiKeyVariables.length === 0
      ? {}
      : { env: Object.fromEntries(input.apiKeyVariables.map((name) => [name, `\${${name}}`])) })
  },
  environment: { type: input.environment.kind, kwargs: input.environment },
  verifier: { disable: true },
  extra_instructions: [input.instruction]
})

/** The configuration as `config.json` holds it. */
export type TrialConfig = ReturnType<typeof trialConfig>

/** What a result is made of. */
export interface ResultInput {
  readonly summary: TrialSummary
  /** As `config.json` has it: a result holds it whole. */
  readonly config: TrialConfig
  /** Of every agent; empty when no accounts were drawn up. */
  readonly receipts: ReadonlyArray<Receipt>
  /** Absolute path of the trial directory. */
  readonly directory: string
}

/** The trial's result. */
export const trialResult = ({ config, directory, receipts, summary }: ResultInput) => ({
  id: uuidOf(`${summary.run_id} ${summary.trial_id}`),
  task_name: config.task.name,
  trial_name: config.trial_name,
  trial_uri: `file://${encodeURI(directory)}`,
  task_id: taskKey(config.task.name),
  source: null,
  task_checksum: sha256Text(config.extra_instructions.join("\n")),
  config: withDefaults(config),
  agent_info: {
    name: AGENT_NAME,
    version: AGENT_VERSION,
    model_info: config.agent.model_name === undefined ? null : { name: config.agent.model_name, provider: null }
  },
  agent_result: summary.agents.length === 0 ? null : agentResult(summary, receipts),
  verifier_result: summary.reward === null ? null : { rewards: { reward: summary.reward } },
  verifier_environment_mode: null,
  exception_info: exceptionInfo(summary),
  started_at: summary.started_at,
  finished_at: summary.ended_at,
  environment_setup: span(summary, ["prepare", "provision", "install", "forward"]),
  agent_setup: span(summary, ["launch", "ready"]),
  agent_execution: span(summary, ["post", "observe"]),
  verifier: span(summary, ["verify-output"]),
  step_results: null
})

const agentResult = (summary: TrialSummary, receipts: ReadonlyArray<Receipt>) => ({
  n_input_tokens: summary.totals.input_tokens,
  n_cache_tokens: summary.totals.cached_tokens,
  n_output_tokens: summary.totals.output_tokens,
  cost_usd: summary.totals.cost_usd,
  rollout_details: null,
  metadata: {
    manifest_sha256: summary.manifest_sha256,
    condition: summary.condition,
    buzz_channel_id: summary.channel_id,
    run_id: summary.run_id,
    trial_id: summary.trial_id,
    outcome: summary.outcome,
    verdict: summary.verdict,
    detail: summary.detail,
    solo_roster: summary.solo_roster,
    stopped_without_done: summary.outcome === "stopped-without-done",
    completion_message_id: summary.completion_message_id,
    completion_message: summary.completion_message,
    agent_runtime: "in-container",
    agent_hints_enabled: false,
    task_seed: "user-identity-prompt",
    buzz_evidence_exported: summary.evidence !== null,
    container_trust_store: summary.trust_store ?? "unknown",
    ...secondsOf(summary),
    ...Object.fromEntries(Object.entries(summary.accounting).map(([name, value]) => [`accounting_${name}`, value])),
    accounting_cost_usd_no_cache_discount: summary.totals.cost_usd_no_cache_discount,
    accounting_cost_usd_including_handoff_bound: summary.totals.cost_usd_including_handoff_bound,
    per_agent_tokens: Object.fromEntries(
      summary.agents.map(({ agent_id, cost_usd, input_tokens, output_tokens }) => [
        agent_id,
        { input: input_tokens, output: output_tokens, cost_usd, ...pricedAs(receipts, agent_id) }
      ])
    )
  }
})

const secondsOf = ({ ended_at, phases, started_at }: TrialSummary) => {
  const timing = TrialTiming.of(phases, Date.parse(started_at), Date.parse(ended_at))
  const { agent_active_seconds, usage_settle_seconds } = timing
  return { agent_active_seconds, usage_settle_seconds }
}

const pricedAs = (receipts: ReadonlyArray<Receipt>, agentId: string) => {
  const receipt = receipts.find(({ agent_id }) => agent_id === agentId)
  return {
    cost_usd_no_cache_discount: receipt?.cost_usd_no_cache_discount ?? null,
    cache_read_rate: receipt?.cache_read_rate ?? null,
    handoffs: receipt?.handoffs ?? 0,
    handoff_cost_usd_upper_bound: receipt?.handoff_cost_usd_upper_bound ?? null
  }
}

/** Harbor's name for the one end that it scores like any other. */
const TIMED_OUT = "AgentTimeoutError"

/** How a trial ended, as far as an exception says it. */
export interface EndOfTrial {
  readonly outcome: Outcome | undefined
  /** The sentence that explains the outcome. */
  readonly detail: string | undefined
  /** Its tag and its message. */
  readonly error: { readonly reason: string; readonly message: string } | undefined
}

const exceptionOf = ({ detail = "", error, outcome }: EndOfTrial) => {
  if (error !== undefined) return exception(error.reason, error.message)
  if (outcome === "timed-out") return exception(TIMED_OUT, detail)
  return outcome === "interrupted" ? exception("CancelledError", detail) : undefined
}

/** The traceback is what Python prints last of one: calls of this runtime are nobody's business. */
const exception = (exception_type: string, exception_message: string) => ({
  exception_type,
  exception_message,
  exception_traceback: `${exception_type}: ${exception_message}`
})

/** `exception.txt`: what Harbor takes for the exception of a trial; `undefined` where there is none. */
export const exceptionText = (end: EndOfTrial): string | undefined => {
  const found = exceptionOf(end)
  return found === undefined ? undefined : `${found.exception_traceback}\n`
}

const exceptionInfo = ({ detail, ended_at, error, outcome }: TrialSummary) => {
  const found = exceptionOf({ outcome: outcome ?? undefined, detail, error: error ?? undefined })
  return found === undefined ? null : { ...found, occurred_at: ended_at }
}

/** From the begin of the first of these phases to the end of the last. */
const span = ({ phases }: TrialSummary, names: ReadonlyArray<string>) => {
  const parts = phases.filter(({ phase }) => names.includes(phase))
  const [first, last] = [parts[0], parts.at(-1)]
  if (first === undefined || last === undefined) return null
  const finished = Date.parse(last.started_at) + Math.round(last.seconds * 1000)
  return { started_at: first.started_at, finished_at: new Date(finished).toISOString() }
}

const withDefaults = (config: TrialConfig) => ({
  install_only: false,
  timeout_multiplier: 1,
  agent_timeout_multiplier: null,
  verifier_timeout_multiplier: null,
  agent_setup_timeout_multiplier: null,
  environment_build_timeout_multiplier: null,
  user_agent: null,
  artifacts: [],
  extra_instruction_paths: [],
  job_id: null,
  source_trial: null,
  ...config,
  agent: { skills: [], resume_trajectory: false, mcp_servers: [], env: {}, ...config.agent },
  environment: { force_build: false, delete: true, env: {}, ...config.environment },
  verifier: { env: {}, kwargs: {}, ...config.verifier }
})

const modelName = (revisions: ReadonlyArray<string>) => {
  const [only, ...others] = new Set(revisions)
  return only === undefined || others.length > 0 ? {} : { model_name: only }
}

/** `org/name`, as Harbor wants every task's name. */
const taskId = (name: string): string => (name.includes("/") ? name : `${AGENT_NAME}/${name}`)

const taskKey = (name: string) => {
  const [org, ...rest] = name.split("/")
  return { org, name: rest.join("/"), ref: null }
}

const nameOf = (directory: string): string => directory.slice(directory.lastIndexOf("/") + 1)

const parentOf = (directory: string): string => directory.slice(0, Math.max(1, directory.lastIndexOf("/")))

/** The same for the same trial, in the form of RFC 9562's version 8. */
const uuidOf = (text: string): string => {
  const hex = sha256Text(text)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
