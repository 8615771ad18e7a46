/** What several test files of this package need. */
import { Result } from "effect"
import type { Dialect } from "../src/Dialect.ts"
import * as Condition from "../src/Condition.ts"
import * as DecodedDocument from "../src/DecodedDocument.ts"
import type { ManifestReason } from "../src/ManifestError.ts"
import * as YamlDocument from "../src/YamlDocument.ts"

/** The outcome of reading a manifest. */
export type Read = Result.Result<Condition.Condition, ReadonlyArray<ManifestReason>>

/** Reads a YAML text as a condition. */
export const readYaml = (text: string, dialect?: Dialect): Read =>
  Result.flatMap(YamlDocument.fromText(text), (document): Read => Condition.fromDocument(document, dialect))

/** Reads a decoded value as a condition. */
export const readValue = (value: unknown, dialect?: Dialect): Read =>
  Result.flatMap(DecodedDocument.fromValue(value), (document): Read => Condition.fromDocument(document, dialect))

/** The condition, or an error that shows why there is none. */
export const conditionOf = (read: Read): Condition.Condition =>
  Result.getOrThrowWith(read, (reasons) => new Error(reasons.map(line).join("\n")))

/** The reasons of a refusal as `Tag path line:column`, as much of it as there is. */
export const refusals = (read: Result.Result<unknown, ReadonlyArray<ManifestReason>>): ReadonlyArray<string> =>
  Result.isFailure(read) ? read.failure.map(line) : ["accepted"]

const line = (reason: ManifestReason): string => {
  const position = "position" in reason && reason.position !== undefined ? reason.position : undefined
  return [
    reason._tag,
    ...("path" in reason && reason.path !== "" ? [reason.path] : []),
    ...(position === undefined ? [] : [`${position.line}:${position.column}`])
  ].join(" ")
}

/** A whole manifest in YAML whose `metadata` is the given flow value. */
export const yamlWithMetadata = (metadata: string): string => `${PLAIN}metadata: ${metadata}\n`

/** A manifest that both dialects read. */
export const PLAIN = `condition: demo
roster:
  - id: solo
    kind: orchestrator
    role: solo
    count: 1
    endpoint: m
    model_revision: r1
    prompt: {path: p.md, sha256: ${"a".repeat(64)}}
    generation: {max_output_tokens: 4096, context_window_tokens: 200000}
    budget: {}
prices:
  m: {input_per_million_usd: 3, cached_input_per_million_usd: 0.3, output_per_million_usd: 15}
trial_budget: {timeout_seconds: 300}
`
