/**
 * Fields of a manifest that are part of a condition's identity and that a trial does not hold to: never delivered to an agent,
 * or limits on what nobody reported. They are named in `summary.json`, so that no difference between two conditions is taken
 * for one that was tried. Pure.
 */
import type { AgentClass, ExperimentManifest } from "@buzz-orchestra/manifest/ExperimentManifest"
import { Schema } from "effect"
import type { Receipt } from "./Receipt.ts"
import type { ContainerSummary } from "./TrialSummary.ts"

/** A field that was not held to, as it stands in the manifest, and why. */
export const Unenforced = Schema.Struct({ field: Schema.String, why: Schema.String })
/** A field that was not held to, and why. */
export type Unenforced = typeof Unenforced.Type

/** What an environment gives; `undefined` for one that cannot limit it. */
export type GivenLimits = ContainerSummary["limits"] | undefined

/** Such fields of this manifest. `given` is what the environment's engine says it gives. */
export const of = (
  manifest: ExperimentManifest,
  receipts: ReadonlyArray<Receipt>,
  given: GivenLimits
): ReadonlyArray<Unenforced> => [
  ...manifest.roster.flatMap((agentClass, index) =>
    [...settings(agentClass), ...limits(agentClass, receipts)].map(({ field, why }) => ({
      field: `roster[${index}].${field}`,
      why
    }))
  ),
  ...trialLimit(manifest, receipts),
  ...overrides(manifest, given)
]

/** An engine may give something else than it was asked for. */
const overrides = ({ environment }: ExperimentManifest, given: GivenLimits): ReadonlyArray<Unenforced> => {
  const { override_cpus, override_memory_mb, override_storage_mb } = environment
  const rows = [
    ["override_cpus", override_cpus, given?.cpus],
    ["override_memory_mb", override_memory_mb, given?.memory_mb],
    ["override_storage_mb", override_storage_mb, given?.storage_mb]
  ] as const
  return rows.flatMap(([field, asked, got]) => {
    if (asked === null || asked === got) return []
    const why = given === undefined ? "this kind of environment has no limits" : `the engine gives ${got ?? "no limit"}`
    return [{ field: `environment.${field}`, why }]
  })
}

const IDENTITY = "part of the condition's identity only; nothing is run differently for it"

const settings = (agentClass: AgentClass): ReadonlyArray<Unenforced> => {
  const { budget, concurrency, generation, harness, persona, skills } = agentClass
  const rows: ReadonlyArray<readonly [string, boolean, string]> = [
    ["persona", persona !== null, IDENTITY],
    ["skills", skills.length > 0, IDENTITY],
    ["concurrency", concurrency !== 1, IDENTITY],
    ["generation.temperature", generation.temperature !== undefined, "no agent takes a temperature"],
    ...COMPACTION.map((field) => [`generation.${field}`, generation[field] !== null, UNREAD] as const),
    ...Object.keys(generation.extra).map(
      (key) => [`generation.extra.${key}`, harness !== "goose" || key !== "goose_system_prompt_mode", IDENTITY] as const
    ),
    ...(harness === "buzz-agent"
      ? []
      : [
          ["budget.max_calls", budget.max_calls !== null, `${harness} has no such setting`] as const,
          ...WINDOW.map(
            (field) => [`generation.${field}`, generation[field] !== null, `${harness} has no such setting`] as const
          )
        ])
  ]
  return rows.flatMap(([field, isUsed, why]) => (isUsed ? [{ field, why }] : []))
}

const COMPACTION = ["compact_at_percent", "compact_at_tokens"] as const
const WINDOW = ["max_output_tokens", "context_window_tokens"] as const
const UNREAD = "it is put into the agent's environment, and no published agent reads it there"

/** A limit is noticed with the report that passes it, so it holds nobody who reports nothing. */
const limits = ({ budget, id }: AgentClass, receipts: ReadonlyArray<Receipt>): ReadonlyArray<Unenforced> => {
  const why = whyUnmetered(receipts.filter(({ class_id }) => class_id === id))
  if (why === undefined) return []
  return (["max_input_tokens", "max_output_tokens", "max_cost_usd"] as const).flatMap((field) =>
    budget[field] === null ? [] : [{ field: `budget.${field}`, why }]
  )
}

const trialLimit = (manifest: ExperimentManifest, receipts: ReadonlyArray<Receipt>): ReadonlyArray<Unenforced> => {
  const why = whyUnmetered(receipts)
  return why === undefined || manifest.trial_budget.max_cost_usd === null
    ? []
    : [{ field: "trial_budget.max_cost_usd", why }]
}

const whyUnmetered = (receipts: ReadonlyArray<Receipt>): string | undefined => {
  const silent = receipts.filter(({ measurement }) => measurement === "unmeasured").map(({ agent_id }) => agent_id)
  if (silent.length > 0) return `${silent.join(", ")} did not say all that was used`
  const handed = receipts.filter(({ handoffs }) => handoffs > 0).map(({ agent_id }) => agent_id)
  return handed.length === 0 ? undefined : `the handoffs of ${handed.join(", ")} are reported by nobody and not counted`
}
