import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Result, Schema } from "effect"
import { hexToBytes } from "@noble/hashes/utils.js"
import { finalizeEvent, verifyEvent as verifyWithNostrTools } from "nostr-tools/pure"
import { eventId, signEvent, verifyEvent } from "../src/EventSigning.ts"
import { decodeEvent } from "../src/internal/decodeEvent.ts"
import { type NostrEvent, Tag } from "../src/NostrEvent.ts"
import { pure } from "../src/Schnorr.ts"
import { signedBy, testIdentity } from "../src/testing/TestIdentity.ts"

const author = testIdentity(7)

const Template = Schema.Struct({
  kind: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 })),
  created_at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4_294_967_295 })),
  tags: Schema.Array(Tag),
  content: Schema.String
})

describe("signEvent", () => {
  it.effect.prop(
    "gives the id that nostr-tools gives, and a signature that nostr-tools takes",
    [Template],
    ([template]) =>
      Effect.sync(() => {
        const secret = hexToBytes(Redacted.value(author.secretKey))
        const theirs = finalizeEvent({ ...template, tags: template.tags.map((tag) => [...tag]) }, secret)
        const ours = signEvent(pure, template, author.secretKey)
        assert.strictEqual(ours.id, theirs.id)
        assert.strictEqual(ours.pubkey, author.pubkey)
        // Through JSON, because nostr-tools believes a verdict that it cached on the object.
        const wire = JSON.parse(JSON.stringify(ours)) as NostrEvent
        assert.isTrue(verifyWithNostrTools({ ...wire, tags: wire.tags.map((tag) => [...tag]) }))
        assert.isTrue(verifyEvent(pure, JSON.parse(JSON.stringify(theirs)) as NostrEvent))
      }),
    { arbitrary: { runs: 25 } }
  )

  it("is a function of the template and the key alone", () => {
    const template = { kind: 9, created_at: 1, tags: [], content: "same" }
    assert.deepStrictEqual(signEvent(pure, template, author.secretKey), signEvent(pure, template, author.secretKey))
  })
})

describe("verifyEvent", () => {
  const event = signedBy(author, { kind: 9, tags: [["h", "channel"]], content: "hello" })

  it("takes an event as it was signed", () => {
    assert.isTrue(verifyEvent(pure, event))
  })

  it("notices a change of any field", () => {
    const changed: ReadonlyArray<Partial<NostrEvent>> = [
      { content: "forged" },
      { kind: 40_002 },
      { created_at: event.created_at + 1 },
      { tags: [] },
      { pubkey: testIdentity(8).pubkey },
      { id: "0".repeat(64) },
      { sig: "0".repeat(128) },
      { sig: "not hex" }
    ]
    for (const fields of changed) assert.isFalse(verifyEvent(pure, { ...event, ...fields }), JSON.stringify(fields))
  })

  it("does not take a right id for a signature by somebody else", () => {
    const stolen = { ...event, pubkey: testIdentity(8).pubkey }
    assert.isFalse(verifyEvent(pure, { ...stolen, id: eventId(stolen) }))
  })

  it("is not fooled by the verdict that nostr-tools keeps on an object and a spread copies", () => {
    const theirs = finalizeEvent(
      { kind: 1, created_at: 1, tags: [], content: "true" },
      hexToBytes(Redacted.value(author.secretKey))
    )
    const forged = { ...theirs, content: "forged" }
    assert.isTrue(verifyWithNostrTools(forged))
    assert.isFalse(verifyEvent(pure, forged as unknown as NostrEvent))
  })
})

describe("decodeEvent", () => {
  const wire = JSON.stringify(signedBy(author, { kind: 9 }))

  it("reads what was signed", () => {
    assert.isTrue(Result.isSuccess(decodeEvent(wire)))
  })

  it("refuses what is not an event", () => {
    for (const text of [
      "",
      "null",
      "[]",
      wire.replace(/"sig":"../, '"sig":"'),
      wire.replace('"kind":9', '"kind":"9"'),
      wire.replace('"tags":[]', '"tags":[[]]'),
      wire.replace(author.pubkey, author.pubkey.toUpperCase())
    ]) {
      assert.isTrue(Result.isFailure(decodeEvent(text)), text)
    }
  })
})
