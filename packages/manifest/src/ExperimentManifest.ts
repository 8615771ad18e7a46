/**
 * The manifest of an experiment: which team runs, on which models, at which prices and within which budget.
 *
 * These are the fields of the document, spelled as in the document, after reading: defaults filled in, numbers plain,
 * `null` where a knob is left alone. The union of both dialects; which one a document is written in, the rules that
 * span several fields and the identity of the condition are decided elsewhere (`Dialect`, `ManifestRules`,
 * `CanonicalForm`).
 */
import { Effect, Schema } from "effect"

/** A number without a fraction. Not `Schema.isInt`, which refuses integers beyond 2^53; those are rounded here. */
const isWhole = (expected: string) =>
  Schema.makeFilter<number>((n) => Number.isInteger(n), {
    expected,
    toJsonSchema: () => ({ type: "integer" }),
    arbitraryConstraint: { number: "integer" }
  })

const PositiveInteger = Schema.Finite.check(
  isWhole("a whole number above 0").abort(),
  Schema.isGreaterThan(0, { expected: "a whole number above 0" })
)

const Percentage = Schema.Finite.check(
  isWhole("a whole number from 1 to 100").abort(),
  Schema.isBetween({ minimum: 1, maximum: 100 }, { expected: "a whole number from 1 to 100" })
)

const PositiveUsd = Schema.Finite.check(Schema.isGreaterThan(0, { expected: "an amount of US dollars above 0" }))

const UsdPerMillion = Schema.Finite.check(
  Schema.isGreaterThanOrEqualTo(0, { expected: "US dollars per million tokens, 0 or more" })
)

const Share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }, { expected: "a number from 0 to 1" }))

const Temperature = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0, { expected: "a number, 0 or more" }))

const Text = Schema.String.check(Schema.isNonEmpty({ expected: "a text that is not empty" }))

/** The flag changes nothing in these patterns, and without it they would not be in the JSON Schema. */
const matching = (pattern: RegExp, expected: string) =>
  Schema.String.check(Schema.isPattern(new RegExp(pattern.source, "u"), { expected }))

const defaulted = <S extends Schema.Top>(schema: S, value: S["Encoded"]) =>
  schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value)))

/** A setting that is left alone when absent or null. */
const knob = <S extends Schema.Top>(schema: S) => defaulted(Schema.NullOr(schema), null)

/** What a free mapping may hold. An integer that a JavaScript number cannot hold exactly is a `bigint`. */
export type FreeValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | ReadonlyArray<FreeValue>
  | { readonly [key: string]: FreeValue }

/** Any value of a free mapping. Dates of YAML are already text here, in ISO 8601. */
export const FreeValue: Schema.Codec<FreeValue> = Schema.Union([
  Schema.Null,
  Schema.Boolean,
  Schema.Finite,
  Schema.BigInt,
  Schema.String,
  Schema.Array(Schema.suspend((): Schema.Codec<FreeValue> => FreeValue)),
  Schema.Record(
    Schema.String,
    Schema.suspend((): Schema.Codec<FreeValue> => FreeValue)
  )
])

/** A mapping whose keys the format leaves to the author; it is part of the condition's identity all the same. */
export const FreeMapping = Schema.Record(Schema.String, FreeValue).annotate({ expected: "a mapping" })

/** A mapping whose keys the format leaves to the author. */
export type FreeMapping = typeof FreeMapping.Type

/** A pinned file: `path` relative to the artifact root, `sha256` of its bytes in 64 lower-case hex digits. */
export const ArtifactRef = Schema.Struct({
  path: Text,
  sha256: matching(/^[0-9a-f]{64}$/, "64 lower-case hex digits")
})

/** A pinned file. */
export type ArtifactRef = typeof ArtifactRef.Type

/** How hard a model is asked to think. `null` in a manifest leaves it to the dialect's default. */
export const ThinkingEffort = Schema.Literals(["none", "minimal", "low", "medium", "high", "xhigh", "max"])

/** How hard a model is asked to think. */
export type ThinkingEffort = typeof ThinkingEffort.Type

/** The program that drives the model behind `buzz-acp`. */
export const Harness = Schema.Literals(["buzz-agent", "goose", "codex"])

/** The program that drives the model behind `buzz-acp`. */
export type Harness = typeof Harness.Type

/** Token limits and model settings of one class. Token counts are in tokens; `null` leaves the agent's own default. */
export const GenerationConfig = Schema.Struct({
  /** Trunk only, and never delivered to an agent; absent unless the document says it. */
  temperature: Schema.optionalKey(Temperature),
  max_output_tokens: knob(PositiveInteger),
  context_window_tokens: knob(PositiveInteger),
  /** Study only. Percentage of the window at which the agent compacts its history. */
  compact_at_percent: knob(Percentage),
  /** Study only. Token count at which the agent compacts its history. */
  compact_at_tokens: knob(PositiveInteger),
  thinking_effort: knob(ThinkingEffort),
  extra: defaulted(FreeMapping, {})
})

/** Token limits and model settings of one class. */
export type GenerationConfig = typeof GenerationConfig.Type

/** Limits on what one agent may use. `max_calls` is the cap of model calls per turn. */
export const AgentBudget = Schema.Struct({
  max_calls: knob(PositiveInteger),
  max_input_tokens: knob(PositiveInteger),
  max_output_tokens: knob(PositiveInteger),
  max_cost_usd: knob(PositiveUsd)
})

/** Limits on what one agent may use. */
export type AgentBudget = typeof AgentBudget.Type

/** A seat of the roster: `count` agents `<id>-1` … `<id>-<count>` that share prompt, endpoint and limits. */
export const AgentClass = Schema.Struct({
  id: matching(
    /^[a-z0-9][a-z0-9._-]*$/,
    "lower-case letters, digits, `.`, `_` and `-`, beginning with a letter or digit"
  ),
  kind: Schema.Literals(["orchestrator", "worker"]),
  /** Free vocabulary: how the team addresses the seat. */
  role: Text,
  count: PositiveInteger,
  /** The key into the endpoint launch config and `prices`; also the model name sent to the provider. */
  endpoint: Text,
  /** For reports only. */
  model_revision: Text,
  /** Study only. */
  harness: defaulted(Harness, "buzz-agent"),
  prompt: ArtifactRef,
  /** Part of the identity, never read at run time. */
  persona: knob(ArtifactRef),
  /** Part of the identity, never read at run time. */
  skills: defaulted(Schema.Array(ArtifactRef), []),
  /** Study only. Whether the agent also gets the platform's own system prompt. */
  include_platform_prompt: defaulted(Schema.Boolean, true),
  generation: defaulted(GenerationConfig, {}),
  budget: defaulted(AgentBudget, {}),
  /** Part of the identity, never used at run time; at most `count`. */
  concurrency: defaulted(PositiveInteger, 1)
})

/** A seat of the roster. */
export type AgentClass = typeof AgentClass.Type

/** What an endpoint costs, in US dollars per million tokens. */
export const Price = Schema.Struct({
  input_per_million_usd: UsdPerMillion,
  cached_input_per_million_usd: UsdPerMillion,
  output_per_million_usd: UsdPerMillion,
  /** Study only. The share of input assumed to come from the cache when an agent does not measure it, 0 to 1. */
  cache_read_rate: defaulted(Share, 0)
})

/** What an endpoint costs, in US dollars per million tokens. */
export type Price = typeof Price.Type

/** Limits of the whole trial. `timeout_seconds` runs from the moment the task was posted. */
export const TrialBudget = Schema.Struct({
  timeout_seconds: PositiveInteger,
  max_cost_usd: knob(PositiveUsd)
})

/** Limits of the whole trial. */
export type TrialBudget = typeof TrialBudget.Type

/** Study only. What the environment gets instead of what the task asks for; memory and storage in MiB. */
export const EnvironmentOverrides = Schema.Struct({
  override_cpus: knob(PositiveInteger),
  override_memory_mb: knob(PositiveInteger),
  override_storage_mb: knob(PositiveInteger)
})

/** What the environment gets instead of what the task asks for. */
export type EnvironmentOverrides = typeof EnvironmentOverrides.Type

/**
 * A whole manifest. Decoding fills in the defaults and checks each field on its own; unknown keys are refused when
 * decoded with `onExcessProperty: "error"`, as `ManifestService` does.
 */
export const ExperimentManifest = Schema.Struct({
  schema_version: defaulted(Schema.Literal("1"), "1"),
  /** The name of the condition. */
  condition: Text,
  roster: Schema.NonEmptyArray(AgentClass),
  /** By endpoint. */
  prices: Schema.Record(Schema.String, Price),
  trial_budget: TrialBudget,
  environment: defaulted(EnvironmentOverrides, {}),
  metadata: defaulted(FreeMapping, {})
})

/** A whole manifest, defaults filled in. */
export type ExperimentManifest = typeof ExperimentManifest.Type
