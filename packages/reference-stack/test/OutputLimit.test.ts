import { assert, describe, it } from "@effect/vitest"
import * as OutputLimit from "@buzz-orchestra/reference-stack/buzz-dev-mcp/OutputLimit"
import { Arbitrary, Schema } from "effect"

const captureText = (text: string, chunkSize: number): OutputLimit.Captured => {
  const bytes = Buffer.from(text)
  let captured = OutputLimit.empty
  for (let at = 0; at < bytes.length; at += chunkSize)
    captured = OutputLimit.append(captured, bytes.subarray(at, at + chunkSize))
  return captured
}

describe("OutputLimit", () => {
  it.prop(
    "short output is shown unchanged, however it was cut into chunks",
    {
      text: Arbitrary.schema(Schema.String),
      size: Arbitrary.schema(Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 1, maximum: 9 }))))
    },
    ({ text, size }) => {
      const wellFormed = text.toWellFormed()
      // A decoder drops the byte order mark at the start.
      if (wellFormed.startsWith("\uFEFF")) return
      assert.strictEqual(OutputLimit.shown(captureText(wellFormed, size), undefined), wellFormed)
    }
  )

  it("shows the last 8 KiB of too many bytes and says where the rest is", () => {
    const text = `${"x".repeat(60_000)}THE END`
    const captured = captureText(text, 4096)
    assert.isTrue(OutputLimit.isTruncated(captured))
    const shown = OutputLimit.shown(captured, "/tmp/full.txt")
    const [header, tail] = shown.split("\n")
    assert.strictEqual(
      header,
      "[truncated: 60007 bytes, 0 lines, the last 8192 bytes follow; full output: /tmp/full.txt]"
    )
    assert.strictEqual(tail, text.slice(-8192))
    assert.strictEqual(Buffer.from(OutputLimit.artifact(captured)).toString(), text)
  })

  it("counts lines too", () => {
    assert.isFalse(OutputLimit.isTruncated(captureText("\n".repeat(2000), 7)))
    assert.isTrue(OutputLimit.isTruncated(captureText("\n".repeat(2001), 7)))
  })

  it("never starts the tail inside a character", () => {
    // 3 bytes each: 8192 is no multiple of 3.
    const shown = OutputLimit.shown(captureText("€".repeat(30_000), 1000), undefined)
    assert.notInclude(shown, "\uFFFD")
    assert.match(shown, /\n€+$/)
  })

  it("keeps the first 10 MB for the artifact and no more", () => {
    let captured = OutputLimit.empty
    for (let index = 0; index < 12; index++)
      captured = OutputLimit.append(captured, new Uint8Array(1024 * 1024).fill(index))
    const artifact = OutputLimit.artifact(captured)
    assert.strictEqual(artifact.length, 10 * 1024 * 1024)
    assert.strictEqual(artifact.at(-1), 9)
    assert.strictEqual(captured.totalBytes, 12 * 1024 * 1024)
  })
})
