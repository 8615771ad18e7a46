import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { ThinkingEffort } from "../src/ExperimentManifest.ts"
import { manifestWith } from "../src/testing/TestManifest.ts"
import { conditionOf, readValue, refusals } from "./support.ts"

const read = (generation: object, top: object = {}) =>
  readValue({ ...manifestWith({ roster: [{ id: "lead", generation }] }), ...top }, "study")

describe("a thinking effort", () => {
  it("is one of seven, each a condition of its own", () => {
    const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]
    assert.sameMembers([...ThinkingEffort.literals], efforts)
    const hashes = efforts.map((thinking_effort) => conditionOf(read({ thinking_effort })).sha256)
    assert.strictEqual(new Set([...hashes, conditionOf(read({})).sha256]).size, efforts.length + 1)
  })

  it.each(["medium-high", "Medium", "", 3, true])("is never %j", (thinking_effort) => {
    assert.deepStrictEqual(refusals(read({ thinking_effort })), ["FieldInvalid roster[0].generation.thinking_effort"])
  })
})

describe("a compaction target", () => {
  it.each([1, 80, 100])("may be %d percent of the window, with or without a number of tokens", (compact_at_percent) => {
    for (const tokens of [{}, { compact_at_tokens: 9000 }])
      assert.isTrue(Result.isSuccess(read({ compact_at_percent, ...tokens })))
  })

  it.each([0, -1, 101, 50.5])("is never %d percent", (compact_at_percent) => {
    assert.deepStrictEqual(refusals(read({ compact_at_percent })), [
      "FieldInvalid roster[0].generation.compact_at_percent"
    ])
  })
})

describe("resources of the environment", () => {
  const FIELDS = ["override_cpus", "override_memory_mb", "override_storage_mb"] as const

  it.each(FIELDS)("%s is a whole number above 0 and makes another condition", (field) => {
    const plain = conditionOf(read({}))
    const set = conditionOf(read({}, { environment: { [field]: 4 } }))
    assert.strictEqual(set.manifest.environment[field], 4)
    assert.notStrictEqual(set.sha256, plain.sha256)
    for (const value of [0, -1, 1.5, "4"])
      assert.deepStrictEqual(refusals(read({}, { environment: { [field]: value } })), [
        `FieldInvalid environment.${field}`
      ])
  })
})
