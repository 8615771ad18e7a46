import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { Base64 } from "effect/encoding"
import { unpackEventFromToken, validateEvent } from "nostr-tools/nip98"
import * as Nip98 from "../src/Nip98.ts"
import type { Tag } from "../src/NostrEvent.ts"
import { pure } from "../src/Schnorr.ts"
import { signedBy, testIdentity } from "../src/testing/TestIdentity.ts"

const identity = testIdentity(5)
const NOW = 1_750_000_000
const URL = "http://127.0.0.1:3000/query"
const BODY = '[{"kinds":[9],"limit":1}]'
const expected = { expectedUrl: URL, method: "POST", body: BODY, now: NOW }
const FAILED = "NIP-98: NIP-98 HTTP Auth verification failed:"

const header = (fields: Partial<Parameters<typeof Nip98.authorizationHeader>[2]> = {}) =>
  Nip98.authorizationHeader(pure, identity, { url: URL, method: "POST", body: BODY, now: NOW, nonce: "n", ...fields })

const withTags = (tags: ReadonlyArray<Tag>, kind = 27_235) =>
  `Nostr ${Base64.encode(JSON.stringify(signedBy(identity, { kind, created_at: NOW, tags })))}`

const verify = (text: string | undefined, request: Partial<typeof expected> = {}) =>
  Nip98.verify(pure, text, { ...expected, ...request })

const refusal = (text: string | undefined, request?: Partial<typeof expected>) => {
  const result = verify(text, request)
  return Result.isFailure(result) ? result.failure : "accepted"
}

describe("Nip98", () => {
  it("names who sent the request", () => {
    const result = verify(header())
    assert.isTrue(Result.isSuccess(result) && result.success.pubkey === identity.pubkey)
  })

  it("is what nostr-tools expects of an authorisation", async () => {
    // nostr-tools looks at the real clock.
    const event = await unpackEventFromToken(header({ now: Math.floor(Date.now() / 1000) }))
    assert.isTrue(await validateEvent(event, URL, "POST"))
    assert.deepStrictEqual(
      event.tags.map(([name]) => name),
      ["u", "method", "nonce", "payload"]
    )
  })

  it("gives two equal requests in one second different ids, so that neither is a replay", () => {
    const ids = [header({ nonce: "a" }), header({ nonce: "b" })].map((text) =>
      Result.map(verify(text), ({ eventId }) => eventId)
    )
    assert.notDeepEqual(ids[0], ids[1])
  })

  it("hashes bytes and text alike", () => {
    assert.strictEqual(header(), header({ body: new TextEncoder().encode(BODY) }))
  })

  it("compares URLs as the relay does", () => {
    for (const url of ["http://localhost:3000/query", "HTTP://127.0.0.1:3000/query/", "http://LOCALHOST:3000/query"]) {
      assert.strictEqual(refusal(header({ url })), "accepted", url)
    }
    for (const url of ["http://127.0.0.1:3001/query", "https://127.0.0.1:3000/query", "http://127.0.0.1:3000/events"]) {
      assert.strictEqual(refusal(header({ url })), `${FAILED} URL mismatch: event has \`${url}\`, expected \`${URL}\``)
    }
  })

  it("refuses in the relay's words, checking in its order", () => {
    const cases: ReadonlyArray<readonly [string | undefined, string]> = [
      [undefined, "missing Nostr auth"],
      ["Bearer abc", "missing Nostr auth"],
      ["nostr abc", "missing Nostr auth"],
      ["Nostr !!!", "invalid base64 in Nostr auth"],
      [`Nostr ${Base64.encode(Uint8Array.of(0xff, 0xfe))}`, "invalid UTF-8 in Nostr auth"],
      [`Nostr ${Base64.encode("{}")}`, "invalid NIP-98 event JSON"],
      [withTags([], 1), `${FAILED} expected kind 27235, got 1`],
      [withTags([["method", "POST"]]), `${FAILED} missing \`u\` tag`],
      [withTags([["u", URL]]), `${FAILED} missing \`method\` tag`],
      [header({ method: "GET" }), `${FAILED} method mismatch: event has \`GET\`, expected \`POST\``],
      [header({ body: "[]" }), `${FAILED} payload tag SHA-256 mismatch: request body does not match signed hash`]
    ]
    for (const [text, reason] of cases) assert.strictEqual(refusal(text), reason)
  })

  it("refuses what somebody changed after signing", () => {
    const event = JSON.parse(String(Result.getOrThrow(Base64.decodeString(header().slice("Nostr ".length)))))
    const forged = `Nostr ${Base64.encode(JSON.stringify({ ...event, created_at: NOW + 1 }))}`
    assert.strictEqual(refusal(forged), `${FAILED} invalid Schnorr signature`)
  })

  it("allows a minute between the clocks, both ways", () => {
    assert.strictEqual(refusal(header(), { now: NOW + 60 }), "accepted")
    assert.strictEqual(refusal(header(), { now: NOW - 60 }), "accepted")
    for (const now of [NOW + 61, NOW - 61]) {
      assert.strictEqual(refusal(header(), { now }), `${FAILED} event timestamp outside ±60s window (delta: 61s)`)
    }
  })

  it("checks the payload only when there is one", () => {
    const tags: ReadonlyArray<Tag> = [
      ["u", URL],
      ["method", "post"]
    ]
    assert.strictEqual(refusal(withTags(tags)), "accepted")
  })
})
