import * as Redaction from "@buzz-orchestra/runtime/Redaction"
import * as SecretScan from "@buzz-orchestra/runtime/SecretScan"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Schema } from "effect"

const KEY = "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa"
const NSEC = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"
const redactor = Redaction.make([Redacted.make(KEY)])

const scan = (bytes: Uint8Array, cuts: ReadonlyArray<number> = []) => {
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)
  const parts = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
  return SecretScan.finish(
    redactor,
    parts.reduce((before, part) => SecretScan.feed(redactor, before, part), SecretScan.initial)
  )
}

const scanText = (text: string) => scan(new TextEncoder().encode(text))

describe("SecretScan", () => {
  it("names the line and kind of each secret", () => {
    const text = `one\ntwo ${KEY}\n\n${NSEC} and sk-ant-api03-${"a1".repeat(12)}\nlast ${btoa(KEY)}`
    assert.deepStrictEqual(scanText(text), [
      { line: 2, kind: "trial-credential" },
      { line: 4, kind: "trial-credential" },
      { line: 4, kind: "nostr-private-key" },
      { line: 4, kind: "anthropic-key" },
      { line: 5, kind: "trial-credential" }
    ])
  })

  it.each([
    ["an event id", "a".repeat(64)],
    ["a public key as npub", `npub1${"q".repeat(58)}`],
    ["a digest", `sha256:${"0123456789abcdef".repeat(4)}`],
    ["what has been taken out", `BUZZ_PRIVATE_KEY=${Redaction.REDACTED}`],
    ["a name like a key", "sk-learn-pipelines"],
    ["a word before good news", "the bearer of good news"]
  ])("never takes %s for a secret", (_, text) => {
    assert.deepStrictEqual(scanText(text), [])
  })

  it.prop(
    "finds the same however the file is cut into pieces, and nothing in what was redacted",
    {
      words: Schema.Array(Schema.Union([Schema.String, Schema.Literals([KEY, NSEC, "\n", "Bearer 0123456789abcdef"])])),
      cuts: Schema.Array(Schema.Natural)
    },
    ({ cuts, words }) => {
      const bytes = new TextEncoder().encode(words.join(" "))
      assert.deepStrictEqual(scan(bytes, cuts), scan(bytes))
      assert.deepStrictEqual(scan(Redaction.applyBytes(redactor, bytes), cuts), [])
    }
  )
})
