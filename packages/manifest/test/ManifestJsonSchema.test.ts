import { endpointsJsonSchema, fixtureJsonSchema, manifestJsonSchema } from "@buzz-orchestra/manifest/ManifestJsonSchema"
import { conditionWith } from "@buzz-orchestra/manifest/testing/TestManifest"
import { assert, describe, it } from "@effect/vitest"

type Json = Readonly<Record<string, unknown>>

/** What a schema says of the field at the end of the path. */
const at = (schema: Json, ...path: ReadonlyArray<string>): Json =>
  path.reduce<Json>((inside, name) => inside[name] as Json, schema)

describe("the JSON Schema", () => {
  const manifest = manifestJsonSchema()

  it("of a manifest knows every field of a condition, and no other", () => {
    const known = Object.keys(at(manifest, "properties"))
    assert.includeMembers(known, Object.keys(conditionWith({}).manifest))
    assert.deepStrictEqual(manifest["required"], ["condition", "roster", "prices", "trial_budget"])
    assert.strictEqual(manifest["additionalProperties"], false)
    assert.strictEqual(manifest["$schema"], "https://json-schema.org/draft/2020-12/schema")
  })

  it("of a manifest has the bounds and patterns of its fields", () => {
    const agent = at(manifest, "properties", "roster", "items")
    assert.strictEqual(at(agent, "properties", "id")["pattern"], "^[a-z0-9][a-z0-9._-]*$")
    assert.deepStrictEqual(at(agent, "properties", "count"), { type: "integer", exclusiveMinimum: 0 })
    assert.strictEqual(agent["additionalProperties"], false)
  })

  it("of an endpoints file takes names of variables, and no comment", () => {
    const endpoint = at(endpointsJsonSchema(), "additionalProperties")
    assert.deepStrictEqual(Object.keys(at(endpoint, "properties")), ["provider", "api_key_env", "env"])
    assert.strictEqual(at(endpoint, "properties", "api_key_env")["pattern"], "^[A-Za-z_][A-Za-z0-9_]*$")
    assert.strictEqual(endpoint["additionalProperties"], false)
  })
  it("of a fixture file knows who is there, and no other role", () => {
    const fields = at(fixtureJsonSchema(), "properties")
    assert.deepStrictEqual(Object.keys(fields), ["user_name", "directory", "scripted", "observed_channels"])
    const entry = at(fields, "directory", "items")
    assert.deepStrictEqual(at(entry, "properties", "role")["enum"], ["user", "bot"])
    assert.strictEqual(entry["additionalProperties"], false)
  })
})
