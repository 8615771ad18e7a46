import { assert, describe, it } from "@effect/vitest"
import { manifestWith } from "../src/testing/TestManifest.ts"
import { conditionOf, PLAIN, readValue, readYaml, refusals } from "./support.ts"

const classWith = (fields: object) => manifestWith({ roster: [{ id: "lead", generation: {}, ...fields }] })

describe("rules of both dialects", () => {
  it("class ids are unique", () => {
    assert.deepStrictEqual(refusals(readValue(manifestWith({ roster: [{ id: "a" }, { id: "b" }, { id: "a" }] }))), [
      "ClassIdRepeated roster[2].id"
    ])
  })

  it("exactly one agent is an orchestrator", () => {
    const rosters = [
      [{ id: "a", kind: "worker" }],
      [{ id: "a", count: 2 }],
      [{ id: "a" }, { id: "b", kind: "orchestrator" }]
    ] as const
    for (const roster of rosters) {
      assert.deepStrictEqual(refusals(readValue(manifestWith({ roster }))), ["OrchestratorNotSingle roster"])
    }
    assert.strictEqual(conditionOf(readValue(manifestWith({ roster: [{ id: "a" }] }))).isSolo, true)
  })

  it("every endpoint of the roster has a price, and prices may have more", () => {
    const { prices } = manifestWith({ roster: [{ id: "a", endpoint: "x" }] })
    assert.deepStrictEqual(refusals(readValue(manifestWith({ prices }))), ["PriceMissing roster[0].endpoint"])
    const more = { ...prices, ...manifestWith().prices }
    assert.deepStrictEqual(refusals(readValue(manifestWith({ prices: more }))), ["accepted"])
    assert.deepStrictEqual(
      refusals(readValue({ ...manifestWith({ roster: [{ id: "a", endpoint: "toString" }] }), prices })),
      ["PriceMissing roster[0].endpoint"]
    )
  })

  it("concurrency is at most the count", () => {
    const [two, three] = [2, 3].map((concurrency) =>
      manifestWith({ roster: [{ id: "a" }, { id: "b", count: 2, concurrency }] })
    )
    assert.deepStrictEqual(refusals(readValue(two)), ["accepted"])
    assert.deepStrictEqual(refusals(readValue(three)), ["ConcurrencyAboveCount roster[1].concurrency"])
  })

  it("all broken ones are reported with their places", () => {
    const text = PLAIN.replace("count: 1", "count: 2\n    concurrency: 3").replace("endpoint: m", "endpoint: n")
    assert.deepStrictEqual(refusals(readYaml(text)), [
      "OrchestratorNotSingle roster 3:3",
      "ConcurrencyAboveCount roster[0].concurrency 7:18",
      "PriceMissing roster[0].endpoint 8:15"
    ])
  })
})

describe("rules of the study dialect", () => {
  const window = { max_output_tokens: 200, context_window_tokens: 1000 }

  it.each([
    [{ ...window, max_output_tokens: 999 }, "accepted"],
    [{ ...window, max_output_tokens: 1000 }, "OutputFillsWindow roster[0].generation.max_output_tokens"],
    [{ ...window, max_output_tokens: 10_000_000 }, "OutputFillsWindow roster[0].generation.max_output_tokens"],
    [{ max_output_tokens: 10_000_000 }, "accepted"],
    [{ ...window, compact_at_tokens: 800 }, "accepted"],
    [{ ...window, compact_at_tokens: 801 }, "CompactionNeverFires roster[0].generation.compact_at_tokens"],
    [{ ...window, compact_at_tokens: 800, compact_at_percent: 1 }, "accepted"],
    [{ context_window_tokens: 1000, compact_at_tokens: 5000 }, "accepted"],
    [{ extra: { goose_system_prompt_mode: "append" } }, "accepted"],
    [{ extra: { goose_system_prompt_mode: "set" } }, "accepted"],
    [
      { extra: { goose_system_prompt_mode: "reset" } },
      "GooseModeInvalid roster[0].generation.extra.goose_system_prompt_mode"
    ],
    [
      { extra: { goose_system_prompt_mode: null } },
      "GooseModeInvalid roster[0].generation.extra.goose_system_prompt_mode"
    ]
  ])("%j: %s", (generation, expected) => {
    assert.deepStrictEqual(refusals(readValue(classWith({ generation }), "study")), [expected])
  })

  it("are warnings in trunk", () => {
    const generation = { max_output_tokens: 5, context_window_tokens: 5, extra: { goose_system_prompt_mode: 1 } }
    const { warnings } = conditionOf(readValue(classWith({ generation }), "trunk"))
    assert.deepStrictEqual(
      warnings.map(({ _tag, path }) => `${_tag} ${path}`),
      [
        "OutputFillsWindow roster[0].generation.max_output_tokens",
        "GooseModeInvalid roster[0].generation.extra.goose_system_prompt_mode"
      ]
    )
  })
})

describe("fields without effect", () => {
  it("are warned of, each at its place", () => {
    const text = `${PLAIN.replace("budget: {}", `persona: {path: x, sha256: ${"b".repeat(64)}}`).replace("context_window", "temperature: 0.7, extra: {a: 1}, context_window")}`
    assert.deepStrictEqual(
      conditionOf(readYaml(text)).warnings.map(({ _tag, path, position }) => `${_tag} ${path} ${position?.line}`),
      [
        "FieldWithoutEffect roster[0].generation.temperature 10",
        "FieldWithoutEffect roster[0].generation.extra.a 10",
        "FieldWithoutEffect roster[0].persona 11"
      ]
    )
  })

  it("are not found in a manifest that has none", () => {
    assert.deepStrictEqual(conditionOf(readYaml(PLAIN)).warnings, [])
  })

  it("include skills and concurrency", () => {
    const skills = [{ path: "x", sha256: "b".repeat(64) }]
    const roster = [{ id: "a" }, { id: "b", count: 2, concurrency: 2, skills }]
    assert.deepStrictEqual(
      conditionOf(readValue(manifestWith({ roster }))).warnings.map(({ path }) => path),
      ["roster[1].skills", "roster[1].concurrency"]
    )
  })
})
