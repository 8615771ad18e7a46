import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { createHash } from "node:crypto"
import { stringify } from "yaml"
import { type ClassFields, manifestWith, type ManifestFields } from "../src/testing/TestManifest.ts"
import type { Dialect } from "../src/Dialect.ts"
import { conditionOf, PLAIN, readValue, readYaml, yamlWithMetadata } from "./support.ts"

const hashOf = (fields?: ManifestFields, dialect?: Dialect): string =>
  conditionOf(readValue(manifestWith(fields), dialect)).sha256

const withGeneration = (generation: unknown): ManifestFields => ({ roster: [{ id: "lead", generation }] })

/** A class of the study dialect, in which `generation` may be left out. */
const withClass = (fields: object): ManifestFields => ({ roster: [{ id: "lead", generation: {}, ...fields }] })

/** The hash, in the study dialect, of a manifest with changes to its one class and to the whole. */
const study = (fields: object, top: object = {}) => hashOf({ ...withClass(fields), ...top }, "study")

const isSolo = (roster: ReadonlyArray<ClassFields>) => conditionOf(readValue(manifestWith({ roster }))).isSolo

const dialectOf = (fields: ManifestFields) => conditionOf(readValue(manifestWith(fields))).dialect

/** Manifests that differ in everything the identity depends on. */
const Fields = Schema.Struct({
  condition: Schema.NonEmptyString,
  timeout: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 })),
  price: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1e9 })),
  workers: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 })),
  note: Schema.String,
  tags: Schema.Record(Schema.String, Schema.Union([Schema.Boolean, Schema.Int, Schema.Null]))
})

const valueOf = (fields: typeof Fields.Type) => ({
  ...manifestWith({ roster: [{ id: "lead" }, { id: "dev", count: fields.workers }] }),
  condition: fields.condition.toWellFormed(),
  prices: {
    "test-model": {
      input_per_million_usd: fields.price,
      cached_input_per_million_usd: 0,
      output_per_million_usd: 1
    }
  },
  trial_budget: { timeout_seconds: fields.timeout },
  metadata: {
    note: fields.note.toWellFormed(),
    tags: Object.fromEntries(Object.entries(fields.tags).map(([key, value]) => [key.toWellFormed(), value]))
  }
})

/** The same value with the members of every object the other way round. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, reversed(member)])
  )
}

describe("the identity of a condition", () => {
  it("is sha256 over the UTF-8 bytes of the canonical text", () => {
    const { canonical, sha256 } = conditionOf(readYaml(yamlWithMetadata("{a: é😀}")))
    assert.strictEqual(sha256, createHash("sha256").update(Buffer.from(canonical, "utf8")).digest("hex"))
  })

  it.prop(
    "depends neither on the order of keys nor on the layout",
    [Fields],
    ([fields]) => {
      const value = valueOf(fields)
      const expected = conditionOf(readValue(value)).sha256
      assert.strictEqual(conditionOf(readValue(reversed(value))).sha256, expected)
      assert.strictEqual(conditionOf(readYaml(JSON.stringify(reversed(value)))).sha256, expected)
      for (const collectionStyle of ["block", "flow"] as const) {
        const text = stringify(value, { version: "1.1", collectionStyle, defaultStringType: "QUOTE_DOUBLE" })
        assert.strictEqual(conditionOf(readYaml(text)).sha256, expected)
      }
    },
    { arbitrary: { runs: 25 } }
  )

  it("changes when the staffing does, or a price, a budget, a prompt, the metadata", () => {
    const all = [
      hashOf(),
      hashOf({ roster: [{ id: "lead" }, { id: "dev", count: 1 }] }),
      hashOf({ roster: [{ id: "lead" }, { id: "dev", count: 2 }] }),
      hashOf({ trial_budget: { timeout_seconds: 61 } }),
      hashOf({ trial_budget: { timeout_seconds: 60, max_cost_usd: 1 } }),
      hashOf({ metadata: { a: 1 } }),
      hashOf({ metadata: { a: 1.5 } }),
      hashOf({ metadata: { a: "1" } }),
      hashOf({ condition: "other" }),
      hashOf({ roster: [{ id: "lead", prompt: { path: "prompt.md", sha256: "b".repeat(64) } }] }),
      hashOf({ roster: [{ id: "lead", budget: { max_calls: 3 } }] })
    ]
    assert.strictEqual(new Set(all).size, all.length)
  })

  it("keeps an integer apart from a float in free mappings, and not where a float is expected", () => {
    const [integer, float] = ["3", "3.0"].map((text) =>
      readYaml(PLAIN.replace("input_per_million_usd: 3,", `input_per_million_usd: ${text},`))
    )
    assert.strictEqual(conditionOf(integer!).sha256, conditionOf(float!).sha256)
    assert.notStrictEqual(
      conditionOf(readYaml(yamlWithMetadata("{a: 3}"))).sha256,
      conditionOf(readYaml(yamlWithMetadata("{a: 3.0}"))).sha256
    )
  })

  it("has integers of any size exactly, while the manifest rounds them to a number", () => {
    const { canonical, manifest } = conditionOf(
      readYaml(PLAIN.replace("budget: {}", "budget: {max_input_tokens: 9007199254740993}"))
    )
    assert.include(canonical, '"max_input_tokens":9007199254740993')
    assert.strictEqual(manifest.roster[0].budget.max_input_tokens, 2 ** 53)
  })

  it("is the same for what is absent and what is given as its default", () => {
    const plain = study({})
    assert.strictEqual(study({ generation: undefined }), plain)
    assert.strictEqual(study({ harness: "buzz-agent" }), plain)
    assert.strictEqual(study({ include_platform_prompt: true }), plain)
    assert.strictEqual(study({ generation: { thinking_effort: null, compact_at_percent: null } }), plain)
    assert.strictEqual(study({ concurrency: 1, persona: null, skills: [], budget: { max_calls: null } }), plain)
    assert.strictEqual(study({}, { environment: {} }), plain)
    assert.strictEqual(study({}, { environment: { override_cpus: null } }), plain)
    assert.strictEqual(study({}, { metadata: {} }), plain)
    const trunk = { max_output_tokens: 4096, context_window_tokens: 200_000 }
    assert.strictEqual(hashOf(withGeneration({ ...trunk, temperature: 0 })), hashOf(withGeneration(trunk)))
  })

  it("contains an effort, a harness, a compaction target or a resource only once they are set", () => {
    const all = [
      study({}),
      study({ harness: "goose" }),
      study({ include_platform_prompt: false }),
      study({ generation: { thinking_effort: "medium" } }),
      study({ generation: { compact_at_percent: 80 } }),
      study({ generation: { compact_at_tokens: 80 } }),
      study({}, { environment: { override_cpus: 4 } })
    ]
    assert.strictEqual(new Set(all).size, all.length)
    assert.notInclude(conditionOf(readValue(manifestWith())).canonical, "thinking_effort")
    assert.notInclude(conditionOf(readValue(manifestWith(), "study")).canonical, "harness")
  })

  it("differs between the dialects for the same document", () => {
    assert.notStrictEqual(hashOf({}, "trunk"), hashOf({}, "study"))
  })
})

describe("a condition", () => {
  it("has the defaults of the manifest filled in", () => {
    const { manifest } = conditionOf(readValue(manifestWith(withClass({}))))
    const [lead] = manifest.roster
    assert.deepStrictEqual(lead.generation, {
      max_output_tokens: null,
      context_window_tokens: null,
      compact_at_percent: null,
      compact_at_tokens: null,
      thinking_effort: null,
      extra: {}
    })
    assert.deepStrictEqual(lead.budget, {
      max_calls: null,
      max_input_tokens: null,
      max_output_tokens: null,
      max_cost_usd: null
    })
    assert.deepStrictEqual(
      [lead.harness, lead.persona, lead.skills, lead.include_platform_prompt, lead.concurrency],
      ["buzz-agent", null, [], true, 1]
    )
    assert.deepStrictEqual(manifest.environment, {
      override_cpus: null,
      override_memory_mb: null,
      override_storage_mb: null
    })
    assert.deepStrictEqual([manifest.metadata, manifest.trial_budget.max_cost_usd], [{}, null])
    assert.strictEqual(manifest.prices["test-model"]?.cache_read_rate, 0)
  })

  it("has free mappings with numbers, dates as text, and a bigint where a number would round", () => {
    const { manifest } = conditionOf(
      readYaml(yamlWithMetadata("{a: 1, b: 1.5, c: 2026-01-02, d: 12345678901234567890}"))
    )
    assert.deepStrictEqual(manifest.metadata, { a: 1, b: 1.5, c: "2026-01-02", d: 12345678901234567890n })
  })

  it("is solo exactly when the whole roster is one agent", () => {
    assert.isTrue(isSolo([{ id: "lead" }]))
    assert.isFalse(isSolo([{ id: "lead" }, { id: "dev" }]))
  })

  it("is found to be of the dialect whose fields it uses or leaves out, else of trunk", () => {
    const trunk = { max_output_tokens: 4096, context_window_tokens: 200_000 }
    const price = { input_per_million_usd: 0, cached_input_per_million_usd: 0, output_per_million_usd: 0 }
    assert.strictEqual(dialectOf({}), "trunk")
    assert.strictEqual(dialectOf(withGeneration({ ...trunk, temperature: 0.7 })), "trunk")
    assert.strictEqual(dialectOf(withGeneration({ ...trunk, thinking_effort: "high", extra: { a: 1 } })), "trunk")
    const uses: ReadonlyArray<ManifestFields> = [
      { environment: {} },
      { roster: [{ id: "lead", harness: "buzz-agent" }] },
      { roster: [{ id: "lead", include_platform_prompt: true }] },
      withGeneration({ ...trunk, compact_at_percent: null }),
      withGeneration({ ...trunk, compact_at_tokens: 1000 }),
      withGeneration({ max_output_tokens: 4096 }),
      withGeneration({ ...trunk, max_output_tokens: null }),
      withGeneration({}),
      withGeneration(undefined),
      { prices: { "test-model": { ...price, cache_read_rate: 0 } } }
    ]
    assert.deepStrictEqual(
      uses.map(dialectOf),
      uses.map(() => "study")
    )
  })

  it("does not look for dialects inside free mappings, nor at endpoints that are named like fields", () => {
    const endpoints = ["environment", "generation", "metadata", "extra", "temperature"]
    const roster = endpoints.map((endpoint, index) => ({ id: `c${index}`, endpoint }))
    const condition = conditionOf(readValue(manifestWith({ roster, metadata: { environment: {}, harness: 1 } })))
    assert.strictEqual(condition.dialect, "trunk")
    assert.deepStrictEqual(Object.keys(condition.manifest.prices), endpoints)
  })
})
