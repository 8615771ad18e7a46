// @module-tag thorough
/** The reader against PyYAML itself, on texts put together from whatever has a meaning in YAML. */
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { fileURLToPath } from "node:url"
import { compareCodePoints, pythonFloat } from "../src/CanonicalJson.ts"
import type { DocumentNode } from "../src/DocumentNode.ts"
import * as YamlDocument from "../src/YamlDocument.ts"
import { runPython } from "./python.ts"

const hasPyYaml = runPython(["-c", "import yaml"]) !== undefined

const oracle = fileURLToPath(new URL("fixtures/pyyaml_oracle.py", import.meta.url))

const STARTS = [
  "",
  "k: ",
  "k:\n  ",
  "a: &x {b: 1}\nc: ",
  "m:\n - ",
  "k: |\n  t\n",
  "k: >\n  t\n\n  u\n",
  'k: "a\n  b',
  "k: {",
  "k: ["
]

const PIECES = [
  ..."a|b: |- |? |: |\n|\n  |\n    |{|}|[|]|, |'|\"|#| # c|&x |*x|!!str |!!int |!!float |!!map |!!seq |!!null |!!bool ".split(
    "|"
  ),
  ..."!!timestamp |! |<<: |<<|=|>|>+|0|010|0x1F|1_000|1:30|1:30.5|1.5|1e5|1.0e+3|.5|-.5|yes|y|on|null|~|2026-01-02".split(
    "|"
  ),
  ..."2026-1-2 3:04:05.6 +7| |\t|  |-|--- |...|\\n|\\|é|😀|http://x?y=1|a b|.inf|-0.0|+1|0o7|\r\n|key: val\n".split(
    "|"
  ),
  ..."- item\n|x: {p: 1, q: [1, 2]}\n|\"q\\u0041\"|'it''s'|:|::|a:b|?|@|`|%".split("|"),
  "|",
  "|-",
  "|2"
]

/** A text as the numbers of its start and its pieces, which shrink to the simplest text that still fails. */
const Choice = Schema.Struct({
  start: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: STARTS.length - 1 })),
  pieces: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: PIECES.length - 1 })))
})

const textOf = ({ start, pieces }: typeof Choice.Type): string =>
  STARTS[start]! + pieces.map((piece) => PIECES[piece]!).join("")

const tree = (node: DocumentNode): unknown => {
  switch (node._tag) {
    case "Null":
      return null
    case "Integer":
      return { int: String(node.value) }
    case "Float":
      return { float: pythonFloat(node.value) }
    case "Timestamp":
      return { date: node.value }
    case "Sequence":
      return node.items.map(tree)
    case "Mapping": {
      const members = Array.from(node.entries, ([key, { value }]) => [key, tree(value)] as const)
      return { map: members.toSorted(([a], [b]) => compareCodePoints(a, b)) }
    }
    default:
      return node.value
  }
}

/** What PyYAML makes of the texts. */
const safeLoad = (
  texts: ReadonlyArray<string>
): ReadonlyArray<{ readonly tree?: unknown; readonly error?: string }> => {
  const input = texts.map((text) => `${JSON.stringify(text)}\n`).join("")
  const lines = runPython([oracle], input)?.trim().split("\n") ?? []
  return lines.map((line) => JSON.parse(line))
}

/** Checks that what both read, they read alike; returns how many that were. */
const agree = (texts: ReadonlyArray<string>): number => {
  const expected = safeLoad(texts)
  assert.lengthOf(expected, texts.length)
  return texts.filter((text, index) => {
    const document = YamlDocument.fromText(text)
    const theirs = expected[index]!
    if (Result.isFailure(document) || theirs.error !== undefined) return false
    assert.deepStrictEqual({ text, tree: tree(document.success.root) }, { text, tree: theirs.tree })
    return true
  }).length
}

describe.skipIf(!hasPyYaml)("YamlDocument against PyYAML", () => {
  it.prop(
    "whatever both read, they read alike",
    [Schema.Array(Choice).check(Schema.isMinLength(80), Schema.isMaxLength(120))],
    ([choices]) => {
      agree(choices.map(textOf))
    },
    { arbitrary: { runs: 5 } }
  )

  it("reads every plain scalar as PyYAML does", () => {
    const scalars = [
      ..."~ null Null NULL nULL yes Yes YES yEs no on off y n Y N true TRUE tRUE".split(" "),
      ..."0 -0 +0 00 010 08 0_ 0_7 1_ 1_000 -1_0 0x1F 0X1F +0x1f 0b10 0b12 -0b1 0o17 1:30 1:60 -1:30 190:20:30 1:5:59".split(
        " "
      ),
      ..."1. 1.5 -1.5 .5 -.5 +.5 ._5 1._5 1_0.5 1e5 1E5 1e+5 1.0e5 1.0e+5 1.e-3 1.5E-10 1:30.5 190:20:30.15 -0.0".split(
        " "
      ),
      ..."12345678901234567890 123456789012345680.0 0.1 1.7976931348623157e+308 5.0e-324 1.0e-400".split(" "),
      ..."2026-01-02 2026-1-2 2026-01-02T03:04:05Z 2026-01-02t3:04:05.6-07 2026-01-02T03:04:05+05:30 0999-01-01".split(
        " "
      ),
      ..."a a:b a#b http://x/y?z=1 -a - -- :a ?a 1a 1.2.3 0.1.0 v1 1-2".split(" ")
    ]
    const texts = scalars.map((scalar) => `k: ${scalar}\n`)
    assert.isAtLeast(agree(texts), texts.length - 1)
  })
})
