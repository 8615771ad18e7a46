import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { manifestWith } from "../src/testing/TestManifest.ts"
import type { Dialect } from "../src/Dialect.ts"
import { conditionOf, PLAIN, readValue, readYaml, refusals, type Read } from "./support.ts"

/** Reads the plain manifest after a replacement, which must have found something to replace. */
const changed = (from: string, to: string, dialect?: Dialect): Read => {
  assert.include(PLAIN, from)
  return readYaml(PLAIN.replace(from, to), dialect)
}

const messages = (read: Read): ReadonlyArray<string> =>
  Result.isFailure(read) ? read.failure.map((reason) => reason.message) : ["accepted"]

describe("values are not coerced", () => {
  it.each([
    ["count: 1", "count: '1'", "FieldInvalid roster[0].count 6:12"],
    ["count: 1", "count: true", "FieldInvalid roster[0].count 6:12"],
    ["count: 1", "count: 1.5", "FieldInvalid roster[0].count 6:12"],
    ["count: 1", "count: 1e0", "FieldInvalid roster[0].count 6:12"],
    ["count: 1", "count: 0", "FieldInvalid roster[0].count 6:12"],
    ["count: 1", "count: -1.5", "FieldInvalid roster[0].count 6:12"],
    ["count: 1", "count: -1", "FieldInvalid roster[0].count 6:12"],
    ["count: 1", "count:", "FieldInvalid roster[0].count 6:11"],
    ["timeout_seconds: 300", "timeout_seconds: 1.0e+19", "FieldInvalid trial_budget.timeout_seconds 14:33"],
    ["input_per_million_usd: 3,", "input_per_million_usd: '3',", "FieldInvalid prices.m.input_per_million_usd 13:30"],
    ["input_per_million_usd: 3,", "input_per_million_usd: yes,", "FieldInvalid prices.m.input_per_million_usd 13:30"],
    ["input_per_million_usd: 3,", "input_per_million_usd: -1,", "FieldInvalid prices.m.input_per_million_usd 13:30"],
    ["input_per_million_usd: 3,", "input_per_million_usd: ,", "FieldInvalid prices.m.input_per_million_usd 13:30"],
    ["condition: demo", "condition: 1", "FieldInvalid condition 1:12"],
    ["condition: demo", "condition: yes", "FieldInvalid condition 1:12"],
    ["condition: demo", "condition: ''", "FieldInvalid condition 1:12"],
    ["condition: demo", "condition: [a]", "FieldInvalid condition 1:12"],
    ["model_revision: r1", "model_revision: 2026-07-15", "FieldInvalid roster[0].model_revision 8:21"],
    ["id: solo", "id: Solo", "FieldInvalid roster[0].id 3:9"],
    ["kind: orchestrator", "kind: boss", "FieldInvalid roster[0].kind 4:11"],
    ["path: p.md", "path: ''", "FieldInvalid roster[0].prompt.path 9:20"],
    ["sha256: aaaa", "sha256: Aaaa", "FieldInvalid roster[0].prompt.sha256 9:34"],
    ["budget: {}", "budget:", "FieldInvalid roster[0].budget 11:12"],
    ["budget: {}", "skills: p.md", "FieldInvalid roster[0].skills 11:13"],
    ["budget: {}", "persona: p.md", "FieldInvalid roster[0].persona 11:14"],
    ["budget: {}", "persona: {path: p.md}", "FieldMissing roster[0].persona.sha256 11:14"],
    ["budget: {}", "include_platform_prompt: 1", "FieldInvalid roster[0].include_platform_prompt 11:30"],
    [
      "context_window_tokens: 200000",
      "thinking_effort: medium-high",
      "FieldInvalid roster[0].generation.thinking_effort 10:60"
    ],
    [
      "context_window_tokens: 200000",
      "compact_at_percent: 0",
      "FieldInvalid roster[0].generation.compact_at_percent 10:63"
    ],
    ["context_window_tokens: 200000", "extra: [a]", "FieldInvalid roster[0].generation.extra 10:50"],
    ["trial_budget:", "environment: {override_cpus: 0}\ntrial_budget:", "FieldInvalid environment.override_cpus 14:30"],
    ["trial_budget:", "environment: []\ntrial_budget:", "FieldInvalid environment 14:14"],
    ["trial_budget:", "schema_version: 1\ntrial_budget:", "FieldInvalid schema_version 14:17"]
  ])("%s → %s", (from, to, expected) => {
    assert.deepStrictEqual(refusals(changed(from, to)), [expected])
  })
})

describe("values are accepted in every form that means them", () => {
  it.each(["300.0", "0x12C", "300", "0454", "5:00", "3.0e+2"])("timeout_seconds: %s", (text) => {
    const { manifest, canonical } = conditionOf(changed("timeout_seconds: 300", `timeout_seconds: ${text}`))
    assert.strictEqual(manifest.trial_budget.timeout_seconds, 300)
    assert.include(canonical, '"timeout_seconds":300}')
  })

  it.each([
    ["1e-7", 1e-7],
    ["1e16", 1e16],
    ["1.5e-10", 1.5e-10],
    ["08", 8],
    ["1_0e2", 1000],
    ["+.5", 0.5],
    ["3", 3]
  ])("input_per_million_usd: %s", (text, value) => {
    const { manifest } = conditionOf(changed("input_per_million_usd: 3,", `input_per_million_usd: ${text},`))
    assert.strictEqual(manifest.prices["m"]?.input_per_million_usd, value)
  })

  it("plain text that reads as a number stays text where text is expected", () => {
    assert.strictEqual(conditionOf(changed("condition: demo", "condition: 1e5")).manifest.condition, "1e5")
  })
})

describe("fields", () => {
  it.each([
    ["trial_budget:", "colour: red\ntrial_budget:", "FieldUnknown colour 14:1"],
    ["trial_budget:", "todo_enforcement: true\ntrial_budget:", "FieldUnknown todo_enforcement 14:1"],
    ["budget: {}", "budget: {max_call: 1}", "FieldUnknown roster[0].budget.max_call 11:14"],
    ["trial_budget:", "environment: {override_gpus: 1}\ntrial_budget:", "FieldUnknown environment.override_gpus 14:15"],
    ["condition: demo\n", "", "FieldMissing condition 1:1"],
    ["kind: orchestrator\n    ", "", "FieldMissing roster[0].kind 3:5"],
    ["input_per_million_usd: 3, ", "", "FieldMissing prices.m.input_per_million_usd 13:6"],
    ["trial_budget: {timeout_seconds: 300}\n", "", "FieldMissing trial_budget 1:1"]
  ])("unknown or missing: %j → %j", (from, to, expected) => {
    assert.deepStrictEqual(refusals(changed(from, to)), [expected])
  })

  it("of an empty roster are asked for", () => {
    assert.deepStrictEqual(refusals(readValue(manifestWith({ roster: [] }))), ["FieldMissing roster[0]"])
  })

  it("that are wrong are all reported, in the order of the document", () => {
    const text = PLAIN.replace("count: 1", "count: 0").replace("condition: demo", "condition: ''") + "colour: red\n"
    assert.deepStrictEqual(refusals(readYaml(text)), [
      "FieldInvalid condition 1:12",
      "FieldInvalid roster[0].count 6:12",
      "FieldUnknown colour 15:1"
    ])
  })

  it("are explained with what to do", () => {
    assert.deepStrictEqual(messages(changed("count: 1", "count: '1'")), [
      'expected a whole number above 0, found the text "1": remove the quotes'
    ])
    assert.deepStrictEqual(messages(changed("condition: demo", "condition: yes")), [
      "expected a text that is not empty, found true: put it in quotes if you mean text"
    ])
    assert.deepStrictEqual(messages(changed("budget: {}", "budget: {max_call: 1}")), [
      "unknown field: did you mean `max_calls`?"
    ])
    assert.deepStrictEqual(messages(changed("kind: orchestrator", "kind: boss")), [
      'expected `orchestrator` or `worker`, found the text "boss"'
    ])
    assert.deepStrictEqual(messages(changed("condition: demo\n", "")), [
      "required but missing: add a text that is not empty"
    ])
    assert.deepStrictEqual(messages(changed("model_revision: r1", "model_revision: 2026-07-15")), [
      "expected a text that is not empty, found the date 2026-07-15: put it in quotes if you mean text"
    ])
  })
})

describe("dialects", () => {
  const GENERATION = "max_output_tokens: 4096, context_window_tokens: 200000"

  it("know only their own fields", () => {
    assert.deepStrictEqual(refusals(changed(GENERATION, `${GENERATION}, temperature: 0.7`, "study")), [
      "FieldUnknown roster[0].generation.temperature 10:74"
    ])
    const study = [
      ["budget: {}", "harness: codex", "FieldUnknown roster[0].harness 11:5"],
      ["budget: {}", "include_platform_prompt: true", "FieldUnknown roster[0].include_platform_prompt 11:5"],
      [
        GENERATION,
        `${GENERATION}, compact_at_percent: 5`,
        "FieldUnknown roster[0].generation.compact_at_percent 10:74"
      ],
      ["usd: 15}", "usd: 15, cache_read_rate: 0}", "FieldUnknown prices.m.cache_read_rate 13:96"],
      ["trial_budget:", "environment: {}\ntrial_budget:", "FieldUnknown environment 14:1"]
    ] as const
    for (const [from, to, expected] of study) assert.deepStrictEqual(refusals(changed(from, to, "trunk")), [expected])
  })

  it("trunk requires token limits", () => {
    assert.deepStrictEqual(refusals(changed(`    generation: {${GENERATION}}\n`, "", "trunk")), [
      "FieldMissing roster[0].generation 3:5"
    ])
    assert.deepStrictEqual(refusals(changed(GENERATION, "max_output_tokens: null", "trunk")), [
      "FieldMissing roster[0].generation.context_window_tokens 10:17",
      "FieldInvalid roster[0].generation.max_output_tokens 10:37"
    ])
  })

  it("are not mixed", () => {
    const mixed = changed(GENERATION, `${GENERATION}, temperature: 0, compact_at_tokens: 5`)
    assert.deepStrictEqual(refusals(mixed), ["DialectsMixed roster[0].generation.temperature 10:74"])
    assert.deepStrictEqual(messages(mixed), [
      "only the trunk dialect has this field, but roster[0].generation.compact_at_tokens is the study dialect's: remove one of the two"
    ])
    const leftOut = changed(GENERATION, "max_output_tokens: 4096, temperature: 0")
    assert.deepStrictEqual(refusals(leftOut), ["DialectsMixed roster[0].generation.temperature 10:43"])
    assert.match(messages(leftOut)[0]!, /leaving out roster\[0\]\.generation\.context_window_tokens is only allowed/)
  })
})
