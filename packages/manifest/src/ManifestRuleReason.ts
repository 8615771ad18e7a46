/**
 * Reasons that concern several fields at once: the cross-field rules of the manifest, and the warnings.
 *
 * The rules of the study dialect do not bind in trunk; there they are warnings.
 */
import { Schema } from "effect"
import { at } from "./internal/at.ts"

/** Two classes of the roster share an id. */
export class ClassIdRepeated extends Schema.TaggedError<ClassIdRepeated>()("ClassIdRepeated", {
  ...at,
  id: Schema.String
}) {
  override get message(): string {
    return `the class id \`${this.id}\` stands twice in the roster: agents are named after it, so rename one`
  }
}

/** The roster's orchestrators do not add up to one agent. */
export class OrchestratorNotSingle extends Schema.TaggedError<OrchestratorNotSingle>()("OrchestratorNotSingle", {
  ...at,
  count: Schema.Finite
}) {
  override get message(): string {
    return `a roster has exactly one orchestrator, this one has ${this.count}: one class of kind \`orchestrator\` with count 1`
  }
}

/** An endpoint of the roster has no price. */
export class PriceMissing extends Schema.TaggedError<PriceMissing>()("PriceMissing", {
  ...at,
  endpoint: Schema.String
}) {
  override get message(): string {
    return `prices missing for the endpoint \`${this.endpoint}\`: add it to \`prices\``
  }
}

/** A class may work on more at once than it has agents. */
export class ConcurrencyAboveCount extends Schema.TaggedError<ConcurrencyAboveCount>()("ConcurrencyAboveCount", {
  ...at,
  concurrency: Schema.Finite,
  count: Schema.Finite
}) {
  override get message(): string {
    return `concurrency ${this.concurrency} is above the class's count ${this.count}: lower it or raise \`count\``
  }
}

/** The output reservation leaves no window: the agent would compact on every turn and then silently truncate. */
export class OutputFillsWindow extends Schema.TaggedError<OutputFillsWindow>()("OutputFillsWindow", {
  ...at,
  maxOutputTokens: Schema.Finite,
  contextWindowTokens: Schema.Finite
}) {
  override get message(): string {
    return (
      `max_output_tokens ${this.maxOutputTokens} must be less than context_window_tokens ${this.contextWindowTokens}: ` +
      "the agent reserves the output from the window, compacts on every turn and loses its context"
    )
  }
}

/** The agent's own reservation compacts before this target is reached. */
export class CompactionNeverFires extends Schema.TaggedError<CompactionNeverFires>()("CompactionNeverFires", {
  ...at,
  compactAtTokens: Schema.Finite,
  /** The highest target that can fire: the window less the reserved output. */
  highest: Schema.Finite
}) {
  override get message(): string {
    return `compact_at_tokens ${this.compactAtTokens} can never fire: the reserved output compacts first; use at most ${this.highest}`
  }
}

/** `extra.goose_system_prompt_mode` is neither `append` nor `set`. */
export class GooseModeInvalid extends Schema.TaggedError<GooseModeInvalid>()("GooseModeInvalid", {
  ...at,
  found: Schema.String
}) {
  override get message(): string {
    return `goose_system_prompt_mode must be \`append\` or \`set\`, found ${this.found}`
  }
}

/** A field that changes the condition's identity and nothing else. Only ever a warning. */
export class FieldWithoutEffect extends Schema.TaggedError<FieldWithoutEffect>()("FieldWithoutEffect", { ...at }) {
  override get message(): string {
    return "part of the condition's identity, but no agent ever sees it"
  }
}

/** The cross-field rules. */
export const ManifestRuleReason = Schema.Union([
  ClassIdRepeated,
  OrchestratorNotSingle,
  PriceMissing,
  ConcurrencyAboveCount,
  OutputFillsWindow,
  CompactionNeverFires,
  GooseModeInvalid
])

/** A broken cross-field rule. */
export type ManifestRuleReason = typeof ManifestRuleReason.Type

/** What `Condition.warnings` may hold: a rule that binds only in the study dialect, or a field without effect. */
export const ManifestWarning = Schema.Union([
  OutputFillsWindow,
  CompactionNeverFires,
  GooseModeInvalid,
  FieldWithoutEffect
])

/** What is allowed but probably not meant; `message` is the sentence, `path` and `position` the place. */
export type ManifestWarning = typeof ManifestWarning.Type
