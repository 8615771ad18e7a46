/**
 * The rules that span several fields of a manifest. Each broken one is a reason with the path of the field to change.
 */
import type { FieldPath } from "./FieldPath.ts"
import type { AgentClass, ExperimentManifest } from "./ExperimentManifest.ts"
import {
  ClassIdRepeated,
  CompactionNeverFires,
  ConcurrencyAboveCount,
  FieldWithoutEffect,
  GooseModeInvalid,
  type ManifestRuleReason,
  OrchestratorNotSingle,
  OutputFillsWindow,
  PriceMissing
} from "./ManifestRuleReason.ts"
import type { Position } from "./Position.ts"

/** Says where a field stands in the document. */
export type PlaceOf = (path: FieldPath) => { readonly path: string; readonly position?: Position }

/** The broken rules that bind in both dialects. */
export const brokenRules = (manifest: ExperimentManifest, placeOf: PlaceOf): ReadonlyArray<ManifestRuleReason> => [
  ...repeatedIds(manifest, placeOf),
  ...orchestrators(manifest, placeOf),
  ...eachClass(manifest, (entry, path) => [
    ...(Object.hasOwn(manifest.prices, entry.endpoint)
      ? []
      : [new PriceMissing({ ...placeOf([...path, "endpoint"]), endpoint: entry.endpoint })]),
    ...(entry.concurrency <= entry.count
      ? []
      : [
          new ConcurrencyAboveCount({
            ...placeOf([...path, "concurrency"]),
            concurrency: entry.concurrency,
            count: entry.count
          })
        ])
  ])
]

/** The broken rules that bind in the study dialect and are warnings in trunk. */
export const brokenStudyRules = (manifest: ExperimentManifest, placeOf: PlaceOf) =>
  eachClass(manifest, ({ generation }, path) => [
    ...window(generation, placeOf, [...path, "generation"]),
    ...gooseMode(generation, placeOf, [...path, "generation", "extra", "goose_system_prompt_mode"])
  ])

/** The fields a manifest sets that change its identity and nothing that an agent ever sees. */
export const fieldsWithoutEffect = (
  manifest: ExperimentManifest,
  placeOf: PlaceOf
): ReadonlyArray<FieldWithoutEffect> =>
  eachClass(manifest, ({ generation, persona, skills, concurrency }, path) => {
    const idle: ReadonlyArray<FieldPath> = [
      ...(persona === null ? [] : [["persona"]]),
      ...(skills.length === 0 ? [] : [["skills"]]),
      ...(generation.temperature === undefined ? [] : [["generation", "temperature"]]),
      ...Object.keys(generation.extra)
        .filter((key) => key !== "goose_system_prompt_mode")
        .map((key) => ["generation", "extra", key]),
      ...(concurrency === 1 ? [] : [["concurrency"]])
    ]
    return idle.map((field) => new FieldWithoutEffect(placeOf([...path, ...field])))
  })

const eachClass = <A>(
  manifest: ExperimentManifest,
  check: (entry: AgentClass, path: FieldPath) => ReadonlyArray<A>
): ReadonlyArray<A> => manifest.roster.flatMap((entry, index) => check(entry, ["roster", index]))

const repeatedIds = (manifest: ExperimentManifest, placeOf: PlaceOf) => {
  const seen = new Set<string>()
  return eachClass(manifest, ({ id }, path) => {
    const repeated = seen.has(id)
    seen.add(id)
    return repeated ? [new ClassIdRepeated({ ...placeOf([...path, "id"]), id })] : []
  })
}

const orchestrators = (manifest: ExperimentManifest, placeOf: PlaceOf) => {
  const count = manifest.roster.reduce((sum, entry) => sum + (entry.kind === "orchestrator" ? entry.count : 0), 0)
  return count === 1 ? [] : [new OrchestratorNotSingle({ ...placeOf(["roster"]), count })]
}

/** The agent reserves the output from the window and compacts when the rest is full. */
const window = (generation: AgentClass["generation"], placeOf: PlaceOf, path: FieldPath) => {
  const { max_output_tokens: output, context_window_tokens: whole, compact_at_tokens: target } = generation
  if (output === null || whole === null) return []
  if (output >= whole) {
    const place = placeOf([...path, "max_output_tokens"])
    return [new OutputFillsWindow({ ...place, maxOutputTokens: output, contextWindowTokens: whole })]
  }
  if (target === null || target <= whole - output) return []
  const place = placeOf([...path, "compact_at_tokens"])
  return [new CompactionNeverFires({ ...place, compactAtTokens: target, highest: whole - output })]
}

const gooseMode = (generation: AgentClass["generation"], placeOf: PlaceOf, path: FieldPath) => {
  const mode = generation.extra["goose_system_prompt_mode"]
  if (mode === undefined || mode === "append" || mode === "set") return []
  const found = typeof mode === "string" ? `the text ${JSON.stringify(mode)}` : describe(mode)
  return [new GooseModeInvalid({ ...placeOf(path), found })]
}

const describe = (value: unknown): string =>
  Array.isArray(value) ? "a list" : typeof value === "object" && value !== null ? "a mapping" : String(value)
