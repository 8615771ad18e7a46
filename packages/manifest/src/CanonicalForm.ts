/**
 * What of a manifest makes up the condition's identity, for each dialect: the members of the canonical JSON, their
 * types and the defaults that stand in for what the document leaves out.
 *
 * It is written out by hand, apart from the schemas: a new field of the manifest must not change the identity of
 * conditions that do not use it, so nothing gets in here by itself. It reads the document and not the decoded manifest
 * because integers keep their size and free mappings their types there.
 */
import { type CanonicalValue, stringify } from "./CanonicalJson.ts"
import type { Dialect } from "./Dialect.ts"
import { type DocumentNode, items, type MappingNode, member, members } from "./DocumentNode.ts"
import { floatOf, integerOf } from "./internal/fieldNumber.ts"

type Node = DocumentNode | undefined
type Members = { readonly [key: string]: CanonicalValue }

/** The canonical JSON text of a manifest that was found valid; its UTF-8 bytes are what is hashed. */
export const canonicalText = (root: MappingNode, dialect: Dialect): string =>
  stringify({
    schema_version: "1",
    condition: text(member(root, "condition")),
    roster: items(member(root, "roster")).map((entry) => agentClass(entry, dialect)),
    prices: Object.fromEntries(
      members(member(root, "prices")).map(([endpoint, node]) => [endpoint, price(node, dialect)])
    ),
    trial_budget: trialBudget(member(root, "trial_budget")),
    ...only(dialect === "study", { environment: environment(member(root, "environment")) }),
    metadata: free(member(root, "metadata"))
  })

const agentClass = (node: Node, dialect: Dialect): Members => {
  const harness = text(member(node, "harness"))
  return {
    id: text(member(node, "id")),
    kind: text(member(node, "kind")),
    role: text(member(node, "role")),
    count: integer(member(node, "count")),
    endpoint: text(member(node, "endpoint")),
    model_revision: text(member(node, "model_revision")),
    prompt: artifact(member(node, "prompt")),
    persona: artifact(member(node, "persona")),
    skills: items(member(node, "skills")).map(artifact),
    generation: generation(member(node, "generation"), dialect),
    budget: agentBudget(member(node, "budget")),
    concurrency: integer(member(node, "concurrency")) ?? 1n,
    ...only(dialect === "study", { include_platform_prompt: flag(member(node, "include_platform_prompt")) ?? true }),
    // Two fields were added without giving every older condition a new identity: left out when they say nothing new.
    ...only(harness !== null && harness !== "buzz-agent", { harness })
  }
}

const generation = (node: Node, dialect: Dialect): Members => {
  const effort = text(member(node, "thinking_effort"))
  return {
    max_output_tokens: integer(member(node, "max_output_tokens")),
    context_window_tokens: integer(member(node, "context_window_tokens")),
    ...only(dialect === "trunk", { temperature: float(member(node, "temperature")) ?? 0 }),
    ...only(dialect === "study", {
      compact_at_percent: integer(member(node, "compact_at_percent")),
      compact_at_tokens: integer(member(node, "compact_at_tokens"))
    }),
    ...only(effort !== null, { thinking_effort: effort }),
    extra: free(member(node, "extra"))
  }
}

const agentBudget = (node: Node): Members => ({
  max_calls: integer(member(node, "max_calls")),
  max_input_tokens: integer(member(node, "max_input_tokens")),
  max_output_tokens: integer(member(node, "max_output_tokens")),
  max_cost_usd: float(member(node, "max_cost_usd"))
})

const price = (node: Node, dialect: Dialect): Members => ({
  input_per_million_usd: float(member(node, "input_per_million_usd")),
  cached_input_per_million_usd: float(member(node, "cached_input_per_million_usd")),
  output_per_million_usd: float(member(node, "output_per_million_usd")),
  ...only(dialect === "study", { cache_read_rate: float(member(node, "cache_read_rate")) ?? 0 })
})

const trialBudget = (node: Node): Members => ({
  timeout_seconds: integer(member(node, "timeout_seconds")),
  max_cost_usd: float(member(node, "max_cost_usd"))
})

const environment = (node: Node): Members => ({
  override_cpus: integer(member(node, "override_cpus")),
  override_memory_mb: integer(member(node, "override_memory_mb")),
  override_storage_mb: integer(member(node, "override_storage_mb"))
})

const artifact = (node: Node): Members | null =>
  node?._tag === "Mapping" ? { path: text(member(node, "path")), sha256: text(member(node, "sha256")) } : null

/** A free mapping, every value as it was written. */
const free = (node: Node): Members => Object.fromEntries(members(node).map(([key, value]) => [key, asWritten(value)]))

const asWritten = (node: DocumentNode): CanonicalValue => {
  switch (node._tag) {
    case "Null":
      return null
    case "Sequence":
      return node.items.map(asWritten)
    case "Mapping":
      return free(node)
    default:
      return node.value
  }
}

const text = (node: Node): string | null => (node?._tag === "Text" ? node.value : null)

const flag = (node: Node): boolean | null => (node?._tag === "Boolean" ? node.value : null)

const integer = (node: Node): bigint | null => integerOf(node) ?? null

const float = (node: Node): number | null => floatOf(node) ?? null

const only = <A extends object>(condition: boolean, members: A): A | Record<never, never> => (condition ? members : {})
