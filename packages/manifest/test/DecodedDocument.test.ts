import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { canonicalText } from "../src/CanonicalForm.ts"
import * as DecodedDocument from "../src/DecodedDocument.ts"
import { MAX_DEPTH } from "../src/DocumentNode.ts"
import { manifestWith } from "../src/testing/TestManifest.ts"
import { refusals } from "./support.ts"

/** The metadata of a manifest as canonical JSON. */
const reads = (metadata: unknown): string => {
  const document = Result.getOrThrow(DecodedDocument.fromValue(manifestWith({ metadata })))
  return /"metadata":(.*),"prices"/.exec(canonicalText(document.root, "trunk"))![1]!
}

/** The reasons against a value at the path `a`. */
const refused = (a: unknown) => refusals(DecodedDocument.fromValue({ a }))

/** `levels` lists inside each other. */
const nested = (levels: number): unknown => Array.from({ length: levels }).reduce((inner) => [inner], 1)

describe("decoded values", () => {
  it("have integers where a number is integral, and floats elsewhere", () => {
    assert.strictEqual(reads({ a: 1, b: 1.5, c: -0, d: 1e21 }), '{"a":1,"b":1.5,"c":0,"d":1000000000000000000000}')
  })

  it("may have a bigint for an integer of any size", () => {
    assert.strictEqual(reads({ a: 12345678901234567890n }), '{"a":12345678901234567890}')
  })

  it("leave out what is undefined, and keep null", () => {
    assert.strictEqual(reads({ a: undefined, b: null }), '{"b":null}')
  })

  it("may be objects without prototype, and have a member named __proto__", () => {
    const bare = Object.assign(Object.create(null), { a: "x" })
    assert.strictEqual(reads(bare), '{"a":"x"}')
    assert.strictEqual(reads(JSON.parse('{"__proto__": [true]}')), '{"__proto__":[true]}')
  })

  it("never take text for a number, whatever it reads as", () => {
    const price = { input_per_million_usd: "1e-7", cached_input_per_million_usd: 0, output_per_million_usd: 0 }
    const document = DecodedDocument.fromValue(manifestWith({ prices: { "test-model": price } }))
    assert.include(canonicalText(Result.getOrThrow(document).root, "trunk"), '"input_per_million_usd":null')
  })
})

describe("values that are refused", () => {
  it.each([
    ["a number that is none", Number.NaN, "NumberNotFinite a"],
    ["an infinity", [Number.NEGATIVE_INFINITY], "NumberNotFinite a[0]"],
    ["a function", () => 1, "ValueNotDocument a"],
    ["a symbol", Symbol("x"), "ValueNotDocument a"],
    ["undefined in a list", [undefined], "ValueNotDocument a[0]"],
    ["a Date", new Date(0), "ValueNotDocument a"],
    ["a Map", new Map(), "ValueNotDocument a"],
    ["half a surrogate pair", "\uD800", "TextNotUnicode a"],
    ["half a surrogate pair in a key", { "\uDC00": 1 }, 'TextNotUnicode a["\\udc00"]']
  ])("%s", (_, value, expected) => {
    assert.deepStrictEqual(refused(value), [expected])
  })

  it.each([null, 1, "text", [1]])("a root that is no mapping: %j", (value) => {
    assert.deepStrictEqual(refusals(DecodedDocument.fromValue(value)), ["RootNotMapping"])
  })

  it("an object inside itself", () => {
    const cycle: { self?: unknown } = {}
    cycle.self = [cycle]
    assert.deepStrictEqual(refused(cycle), ["NestingTooDeep a.self[0]"])
  })

  it("what is nested too deeply, also through an object that was met higher up", () => {
    assert.deepStrictEqual(refused(nested(MAX_DEPTH - 1)), ["accepted"])
    assert.lengthOf(refused(nested(100_000)), 1)
    const deep = nested(MAX_DEPTH / 2)
    const below = Array.from({ length: MAX_DEPTH / 2 }).reduce<unknown>((inner) => [inner], deep)
    assert.match(refusals(DecodedDocument.fromValue({ deep, below }))[0]!, /^NestingTooDeep below/)
  })

  it("what multiplies by sharing", () => {
    const bomb = Array.from({ length: 40 }).reduce<unknown>((inner) => [inner, inner], "lol")
    assert.deepStrictEqual(refused(bomb), ["ExpansionTooLarge"])
  })
})
