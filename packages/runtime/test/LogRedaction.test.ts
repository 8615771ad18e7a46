/**
 * Logs in every format that is known, with secrets in every spelling, and model text that imitates secrets, markers and usage
 * lines: what is written is exactly what was printed, but for the secrets.
 */
import * as Identity from "@buzz-orchestra/relay/Identity"
import * as AgentLog from "@buzz-orchestra/runtime/AgentLog"
import { classify } from "@buzz-orchestra/runtime/AgentSignal"
import * as Redaction from "@buzz-orchestra/runtime/Redaction"
import * as SecretScan from "@buzz-orchestra/runtime/SecretScan"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Schema } from "effect"
import * as Cases from "./matrix/support/Cases.ts"
import { coloured, line } from "./support/logLines.ts"

const KEY = "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa"
const PASSWORD = 'p/a$$ "wörd"\\x'
const NSEC = Redacted.value(Identity.nsec({ pubkey: "", secretKey: Redacted.make(KEY), authTag: undefined }))
const redactor = Redaction.make([Redacted.make(KEY), Redacted.make(PASSWORD)])

/** A secret as some program prints it. */
const SPELLINGS: ReadonlyArray<string> = [
  KEY,
  KEY.toUpperCase(),
  NSEC,
  NSEC.toUpperCase(),
  PASSWORD,
  JSON.stringify(PASSWORD).slice(1, -1),
  encodeURIComponent(PASSWORD),
  `${KEY.slice(0, 31)}\u001b[0m\u001b[2m${KEY.slice(31)}`,
  [...NSEC].join("\u001b[1m"),
  "sk-or-v1-0123456789abcdef0123456789abcdef"
]

/** Text that is no secret, whatever it looks like. */
const INNOCENT: ReadonlyArray<string> = [
  "a".repeat(64),
  `npub1${"q".repeat(58)}`,
  KEY.slice(1, -1),
  "nsec1short",
  "Bearer of news",
  "sk-learn",
  "goose usage update session_id=s input=999999 output=999999",
  "turn complete for channel 99999999-8888-4777-8666-555555555555: end_turn",
  "2026-06-15T12:00:00.123456Z  INFO acp::usage: goose usage update session_id=s input=999999 output=1",
  "[redacted]",
  "é€😀",
  "\u001b[31mred\u001b[0m",
  ""
]

const Word = Schema.Union([
  Schema.Struct({ secret: Schema.Literals([true]), text: Schema.Literals(SPELLINGS) }),
  Schema.Struct({ secret: Schema.Literals([false]), text: Schema.Literals(INNOCENT) })
])

const Line = Schema.Struct({
  form: Schema.Literals(["plain", "coloured", "bare", "usage", "usage of an option"]),
  words: Schema.Array(Word)
})

type Line = typeof Line.Type

/** How a line is printed, each of its words as `show` has it. */
const print = ({ form, words }: Line, show: (word: typeof Word.Type) => string): string => {
  const text = words.map((word) => `<${show(word)}>`).join(" ")
  switch (form) {
    case "plain":
      return line("acp::stream", text)
    case "coloured":
      return coloured("acp::tool", text)
    case "bare":
      return text
    case "usage":
      return `${line("acp::usage", "goose usage update session_id=s input=10 output=2 cached=0", { level: "DEBUG" })} ${text}`
    case "usage of an option":
      return `${line("acp::usage", "goose usage update session_id=s input=Some(10) output=Some(2)", { level: "DEBUG" })} ${text}`
  }
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)

const redacted = (bytes: Uint8Array, cuts: ReadonlyArray<number>): string => {
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)
  let held = Redaction.NOTHING_HELD
  const shown: Array<Uint8Array> = []
  for (const [index, end] of ends.entries()) {
    const [next, out] = Redaction.feed(redactor, held, bytes.subarray(ends[index - 1] ?? 0, end))
    held = next
    shown.push(out)
  }
  return decode(Buffer.concat([...shown, Redaction.applyBytes(redactor, held)]))
}

describe("a log on its way to disk", () => {
  it.prop(
    "is what was printed, with every secret replaced and nothing else",
    { lines: Schema.Array(Line), cuts: Schema.Array(Schema.Natural) },
    ({ cuts, lines }) => {
      const printed = lines.map((it) => `${print(it, ({ text }) => text)}\n`).join("")
      const expected = lines.map((it) => `${print(it, (word) => (word.secret ? Redaction.REDACTED : word.text))}\n`)
      const written = redacted(encode(printed), cuts)
      assert.strictEqual(written, expected.join(""))
      const scan = SecretScan.feed(redactor, SecretScan.initial, encode(written))
      assert.deepStrictEqual(SecretScan.finish(redactor, scan), [])
      // What an agent did is read from the log the same before and after.
      const signals = (text: string) => AgentLog.parse(encode(text)).map((it) => classify(it)?._tag)
      assert.deepStrictEqual(signals(written), signals(printed))
    },
    { arbitrary: Cases.options(150, 20_000), timeout: Cases.timeout(30_000) }
  )
})
