import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { canonicalText } from "../src/CanonicalForm.ts"
import { MAX_DEPTH } from "../src/DocumentNode.ts"
import * as YamlDocument from "../src/YamlDocument.ts"
import { PLAIN, refusals, yamlWithMetadata } from "./support.ts"

/** The metadata of a manifest as canonical JSON. */
const metadata = (text: string): string => {
  const document = Result.getOrThrow(YamlDocument.fromText(text))
  return /"metadata":(.*),"prices"/.exec(canonicalText(document.root, "trunk"))![1]!
}

/** How a `metadata` in flow style reads. */
const reads = (flow: string): string => metadata(yamlWithMetadata(flow))

describe("values as PyYAML reads them", () => {
  it.each([
    ["{a: yes, b: No, c: on, d: y, e: n}", '{"a":true,"b":false,"c":true,"d":"y","e":"n"}'],
    ["{a: 010, b: 08, c: 0x1F, d: 1_000, e: 1:30, f: 0o7}", '{"a":8,"b":"08","c":31,"d":1000,"e":90,"f":"0o7"}'],
    ["{a: 1e5, b: 1.0e5, c: 1.0e+5, d: .5, e: -.5}", '{"a":"1e5","b":"1.0e5","c":100000.0,"d":0.5,"e":"-.5"}'],
    ["{a: '1', b: \"yes\", c: '2026-01-02'}", '{"a":"1","b":"yes","c":"2026-01-02"}'],
    ["{a: 2026-01-02, b: 2026-01-02 03:04:05 -7}", '{"a":"2026-01-02","b":"2026-01-02T03:04:05-07:00"}'],
    ["{a: 12345678901234567890, b: -9007199254740993}", '{"a":12345678901234567890,"b":-9007199254740993}'],
    ["{a: , b: ~, c}", '{"a":null,"b":null,"c":null}'],
    ["{a: !!str 1, b: !!int '3', c: !!float 3, d: !!bool 'ON', e: ! '4'}", '{"a":"1","b":3,"c":3.0,"d":true,"e":4}'],
    ["{a: !!seq [1], b: !!map {c: 1}, d: !!timestamp 2026-1-2}", '{"a":[1],"b":{"c":1},"d":"2026-01-02"}'],
    ["{a: &x {b: 1}, c: *x, d: {<<: *x, e: 2}}", '{"a":{"b":1},"c":{"b":1},"d":{"b":1,"e":2}}'],
    ["{<<: [{a: 1}, {a: 2, b: 3}], <<: {b: 4}, c: 5}", '{"a":1,"b":4,"c":5}'],
    ["{<<: {a: 1}, a: 2}", '{"a":2}'],
    ["{'<<': 1, \"=\": 2}", '{"<<":1,"=":2}'],
    ["{__proto__: 1, constructor: {a: 2}}", '{"__proto__":1,"constructor":{"a":2}}'],
    ['{a: "\\x41\\u00e9\\U0001F600\\/\\e"}', '{"a":"Aé😀/\\u001b"}']
  ])("%s", (flow, canonical) => {
    assert.strictEqual(reads(flow), canonical)
  })

  it("takes a byte order mark, CRLF and lone CR", () => {
    const text = `${PLAIN}metadata:\n  a: |\n    x\n    y\n  b: 1\n`
    const expected = '{"a":"x\\ny\\n","b":1}'
    assert.strictEqual(metadata(`\uFEFF${text}`), expected)
    assert.strictEqual(metadata(text.replaceAll("\n", "\r\n")), expected)
    assert.strictEqual(metadata(text.replaceAll("\n", "\r")), expected)
  })

  it("gives a block text at the end of the file its last line break only if it is there", () => {
    assert.strictEqual(metadata(`${PLAIN}metadata:\n  a: |\n    x\n`), '{"a":"x\\n"}')
    assert.strictEqual(metadata(`${PLAIN}metadata:\n  a: |\n    x`), '{"a":"x"}')
    assert.strictEqual(metadata(`${PLAIN}metadata:\n  a: >-\n    x\n    y`), '{"a":"x y"}')
  })

  it("takes JSON, a %YAML directive, and one document between its marks", () => {
    assert.strictEqual(metadata(`%YAML 1.1\n---\n${PLAIN}metadata: {"a":[1,2.0,"b"]}\n...\n`), '{"a":[1,2.0,"b"]}')
  })
})

describe("what is refused", () => {
  it.each([
    ["a key twice", "{a: 1, a: 2}", "DuplicateKey metadata.a 15:18"],
    ["a key twice, once quoted", "{a: 1, 'a': 2}", "DuplicateKey metadata.a 15:18"],
    ["an infinity", "{a: .inf}", "NumberNotFinite metadata.a 15:15"],
    ["no number", "{a: [.NaN]}", "NumberNotFinite metadata.a[0] 15:16"],
    ["a float out of range", "{a: 1.0e+999}", "NumberNotFinite metadata.a 15:15"],
    ["an integer as key", "{1: a}", "KeyNotText metadata 15:12"],
    ["a boolean as key", "{yes: a}", "KeyNotText metadata 15:12"],
    ["a list as key", "{[1]: a}", "KeyNotText metadata 15:12"],
    ["a custom tag", "{a: !mine 1}", "TagRefused metadata.a 15:21"],
    ["a Python tag", "{a: !!python/name:os.system x}", "TagRefused metadata.a 15:39"],
    ["!!set", "{a: !!set {b}}", "TagRefused metadata.a 15:21"],
    ["!!omap", "{a: !!omap [b: 1]}", "TagRefused metadata.a 15:22"],
    ["!!pairs", "{a: !!pairs [b: 1]}", "TagRefused metadata.a 15:23"],
    ["!!binary", "{a: !!binary aGk=}", "TagRefused metadata.a 15:24"],
    ["a tag of another kind of node", "{a: !!map [1]}", "TagRefused metadata.a 15:21"],
    ["a plain =", "{a: =}", "TagRefused metadata.a 15:15"],
    ["a plain << as value", "{a: <<}", "TagRefused metadata.a 15:15"],
    ["a merge of a scalar", "{<<: 1}", 'MergeRefused metadata["<<"] 15:16'],
    ["no date of the calendar", "{a: 2026-02-30}", "ScalarInvalid metadata.a 15:15"],
    ["no integer behind its tag", "{a: !!int x}", "ScalarInvalid metadata.a 15:21"],
    ["an alias without anchor", "{a: *x}", "YamlSyntaxInvalid metadata.a 15:15"],
    ["an anchor defined twice", "{a: &x 1, b: &x 2}", "YamlSyntaxInvalid metadata.b 15:27"],
    ["a value inside itself", "{a: &x [*x]}", "NestingTooDeep metadata.a[0] 15:19"],
    ["half a surrogate pair", '{a: "\\ud800"}', "TextNotUnicode metadata.a 15:15"],
    ["a surrogate pair in escapes", '{a: "\\ud83d\\ude00"}', "TextNotUnicode metadata.a 15:15"],
    ["a control character", "{a: \u0007}", "CharacterRefused 15:15"],
    ["a line separator", "{a: 'x\u2028y'}", "CharacterRefused 15:17"],
    ["a plain ? in a flow collection", "{a: [?b]}", "YamlSyntaxInvalid metadata.a[0] 15:16"],
    ["a bracket left open", "{a: [1}", "YamlSyntaxInvalid 15:17"]
  ])("%s", (_, flow, expected) => {
    assert.deepStrictEqual(refusals(YamlDocument.fromText(yamlWithMetadata(flow))), [expected])
  })

  it("several documents", () => {
    assert.deepStrictEqual(refusals(YamlDocument.fromText("a: 1\n---\nb: 1\n")), ["SeveralDocuments 2:1"])
  })

  it.each([
    ["[1]", "RootNotMapping 1:1"],
    ["text", "RootNotMapping 1:1"],
    ["", "RootNotMapping"],
    ["# nothing\n", "RootNotMapping"]
  ])("a root that is no mapping: %j", (text, expected) => {
    assert.deepStrictEqual(refusals(YamlDocument.fromText(text)), [expected])
  })

  it("a block text whose last line is spaces without a line break", () => {
    assert.deepStrictEqual(refusals(YamlDocument.fromText("a: |+\n  x\n  ")), ["YamlSyntaxInvalid a 1:4"])
  })

  it("bytes that are not UTF-8", () => {
    assert.deepStrictEqual(refusals(YamlDocument.fromBytes(Uint8Array.of(0x61, 0x3a, 0x20, 0xff))), ["TextNotUnicode"])
    assert.isTrue(Result.isSuccess(YamlDocument.fromBytes(new TextEncoder().encode("a: é"))))
  })

  it("everything that is wrong, in the order of the document", () => {
    const text = "a: .inf\nb: !x 1\nc: {d: 1, d: 2}\n1: e\n"
    assert.deepStrictEqual(refusals(YamlDocument.fromText(text)), [
      "NumberNotFinite a 1:4",
      "TagRefused b 2:7",
      "DuplicateKey c.d 3:11",
      "KeyNotText 4:1"
    ])
  })
})

/** Lists inside lists. */
const nested = (levels: number) => `a: ${"[".repeat(levels)}${"]".repeat(levels)}`

describe("documents made to do harm", () => {
  it("are read up to the greatest depth and refused beyond, however deep", () => {
    assert.isTrue(Result.isSuccess(YamlDocument.fromText(nested(MAX_DEPTH - 1))))
    for (const levels of [MAX_DEPTH, 1000, 20_000]) {
      const [refusal] = refusals(YamlDocument.fromText(nested(levels)))
      assert.match(refusal!, /^NestingTooDeep/)
    }
  })

  it("may not hide their depth behind aliases", () => {
    const half = nested(MAX_DEPTH / 2).slice(3)
    const text = `a: &x ${half}\nb: ${"[".repeat(MAX_DEPTH / 2)}*x${"]".repeat(MAX_DEPTH / 2)}\n`
    assert.match(refusals(YamlDocument.fromText(text))[0]!, /^NestingTooDeep b/)
  })

  it("may not multiply by aliases", () => {
    const lines = Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i}, `.repeat(9)}]`)
    assert.deepStrictEqual(refusals(YamlDocument.fromText(`a0: &a0 lol\n${lines.join("\n")}\n`)), ["ExpansionTooLarge"])
  })

  it("may not multiply by merges", () => {
    const keys = Array.from({ length: 2000 }, (_, i) => `k${i}: ${i}`).join(", ")
    const text = `a: &a {${keys}}\nb: {<<: [${"*a, ".repeat(100)}]}\n`
    assert.deepStrictEqual(refusals(YamlDocument.fromText(text)), ["ExpansionTooLarge"])
  })

  it("may use an alias as often as a manifest has a use for it", () => {
    const text = `a: &a {b: 1}\nc: [${"*a, ".repeat(1000)}]\n`
    assert.isTrue(Result.isSuccess(YamlDocument.fromText(text)))
  })
})
