/**
 * The Agent Trajectory Interchange Format, version 1.7, as its published model validates it: unknown fields are refused, steps
 * are numbered from 1 without a gap, fields of a model's answer stand in steps of an agent only, an observation names a tool
 * call of its own step, and each embedded trajectory has an id of its own. Decode with `decode`, which checks all of it.
 *
 * Only what a trial produces is here: images, token ids and log probabilities are not.
 */
import { Schema } from "effect"

/** The version that is written. */
export const SCHEMA_VERSION = "ATIF-v1.7"

const optional = Schema.optionalKey
const Extra = optional(Schema.Record(Schema.String, Schema.Unknown))
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** What a step used. `prompt_tokens` includes the cached ones. */
const Metrics = Schema.Struct({
  prompt_tokens: optional(Schema.Int),
  completion_tokens: optional(Schema.Int),
  cached_tokens: optional(Schema.Int),
  cost_usd: optional(Schema.Finite),
  extra: Extra
})

const ToolCall = Schema.Struct({
  tool_call_id: Schema.String,
  function_name: Schema.String,
  arguments: Schema.Record(Schema.String, Schema.Unknown),
  extra: Extra
})

const SubagentTrajectoryRef = Schema.Struct({
  trajectory_id: optional(Schema.String),
  trajectory_path: optional(Schema.String),
  session_id: optional(Schema.String),
  extra: Extra
}).check(
  Schema.makeFilter(
    (ref) => ref.trajectory_id !== undefined || ref.trajectory_path !== undefined || "a reference leads nowhere"
  )
)

const ObservationResult = Schema.Struct({
  source_call_id: optional(Schema.String),
  content: optional(Schema.String),
  subagent_trajectory_ref: optional(Schema.Array(SubagentTrajectoryRef)),
  extra: Extra
})

/** ISO 8601, as Python's `datetime.fromisoformat` takes it. */
const Timestamp = Schema.String.check(
  Schema.isPattern(/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)?)?$/),
  Schema.makeFilter((text) => !Number.isNaN(Date.parse(text)) || "a timestamp is no time")
)

const AGENT_ONLY = ["model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"] as const
const MODEL_ONLY = ["reasoning_content", "metrics"] as const

/** One step: somebody said or did something. */
export const Step = Schema.Struct({
  step_id: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
  timestamp: optional(Timestamp),
  source: Schema.Literals(["system", "user", "agent"]),
  message: Schema.String,
  model_name: optional(Schema.String),
  reasoning_effort: optional(Schema.String),
  reasoning_content: optional(Schema.String),
  tool_calls: optional(Schema.Array(ToolCall)),
  observation: optional(Schema.Struct({ results: Schema.Array(ObservationResult) })),
  metrics: optional(Metrics),
  is_copied_context: optional(Schema.Boolean),
  llm_call_count: optional(Count),
  extra: Extra
}).check(
  Schema.makeFilter((step) => {
    const misplaced = step.source === "agent" ? [] : AGENT_ONLY.filter((field) => step[field] !== undefined)
    const unmodelled = step.llm_call_count === 0 ? MODEL_ONLY.filter((field) => step[field] !== undefined) : []
    const calls = new Set(step.tool_calls?.map(({ tool_call_id }) => tool_call_id))
    const astray = (step.observation?.results ?? []).flatMap(({ source_call_id }) =>
      source_call_id === undefined || calls.has(source_call_id) ? [] : [source_call_id]
    )
    const wrong = [
      ...misplaced.map((field) => `${field} in a step of ${step.source}`),
      ...(step.source === "agent" ? unmodelled.map((field) => `${field} without a call of a model`) : []),
      ...astray.map((id) => `an observation of ${id}, which is no call of its step`)
    ]
    return wrong.length === 0 || `step ${step.step_id}: ${wrong.join(", ")}`
  })
)
/** One step: somebody said or did something. */
export type Step = typeof Step.Type

const Agent = Schema.Struct({
  name: Schema.String,
  version: Schema.String,
  model_name: optional(Schema.String),
  extra: Extra
})

const FinalMetrics = Schema.Struct({
  total_prompt_tokens: optional(Schema.Int),
  total_completion_tokens: optional(Schema.Int),
  total_cached_tokens: optional(Schema.Int),
  total_cost_usd: optional(Schema.Finite),
  total_steps: optional(Count),
  extra: Extra
})

const fields = {
  schema_version: Schema.Literal(SCHEMA_VERSION),
  session_id: optional(Schema.String),
  trajectory_id: optional(Schema.String),
  agent: Agent,
  steps: Schema.NonEmptyArray(Step),
  notes: optional(Schema.String),
  final_metrics: optional(FinalMetrics),
  continued_trajectory_ref: optional(Schema.String),
  extra: Extra
}

const isNumbered = Schema.makeFilter(({ steps }: { readonly steps: ReadonlyArray<Step> }) => {
  const wrong = steps.findIndex(({ step_id }, index) => step_id !== index + 1)
  return wrong === -1 || `step ${wrong + 1} is numbered ${steps[wrong]?.step_id}`
})

/** The trajectory of one agent, embedded in that of the trial. */
export const SubagentTrajectory = Schema.Struct({ ...fields, trajectory_id: Schema.String }).check(isNumbered)
/** The trajectory of one agent, embedded in that of the trial. */
export type SubagentTrajectory = typeof SubagentTrajectory.Type

/** The trajectory of a trial. */
export const Trajectory = Schema.Struct({
  ...fields,
  subagent_trajectories: optional(Schema.Array(SubagentTrajectory))
}).check(
  isNumbered,
  Schema.makeFilter(({ subagent_trajectories = [] }) => {
    const ids = subagent_trajectories.map(({ trajectory_id }) => trajectory_id)
    return new Set(ids).size === ids.length || `embedded trajectories share an id: ${ids.join(", ")}`
  })
)
/** The trajectory of a trial. */
export type Trajectory = typeof Trajectory.Type

/** The trajectory that a value is, when it keeps every rule of the format; fails with all that are broken. */
export const decode = Schema.decodeUnknownResult(Trajectory, { errors: "all", onExcessProperty: "error" })
