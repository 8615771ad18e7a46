import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { makeAuthEvent } from "nostr-tools/nip42"
import * as Identity from "../src/Identity.ts"
import * as Nip42 from "../src/Nip42.ts"
import { pure } from "../src/Schnorr.ts"
import { signedBy, testIdentity } from "../src/testing/TestIdentity.ts"

const identity = testIdentity(5)
const owner = testIdentity(1)
const NOW = 1_750_000_000
const expected = { relayUrl: "ws://127.0.0.1:3000", challenge: "c0ffee", now: NOW }

const answer = (fields: Partial<typeof expected> = {}, who = identity) =>
  Nip42.authEvent(pure, who, { ...expected, ...fields })

const accepts = (event: Parameters<typeof Nip42.verify>[1], fields: Partial<typeof expected> = {}) =>
  Result.isSuccess(Nip42.verify(pure, event, { ...expected, ...fields }))

describe("Nip42", () => {
  it("names who answered", () => {
    assert.deepStrictEqual(
      Nip42.verify(pure, answer(), expected),
      Result.succeed({ pubkey: identity.pubkey, attestation: undefined })
    )
  })

  it("carries the owner's attestation", () => {
    const result = Nip42.verify(pure, answer({}, Identity.attested(pure, identity, owner)), expected)
    assert.deepStrictEqual(
      result,
      Result.succeed({ pubkey: identity.pubkey, attestation: { owner: owner.pubkey, conditions: "" } })
    )
  })

  it("takes the answer that nostr-tools makes", () => {
    const template = makeAuthEvent(expected.relayUrl, expected.challenge)
    const event = signedBy(identity, {
      ...template,
      created_at: NOW,
      tags: [
        ["relay", expected.relayUrl],
        ["challenge", expected.challenge]
      ]
    })
    assert.strictEqual(template.kind, event.kind)
    assert.isTrue(accepts(event))
  })

  it("takes any spelling of the relay's URL, and no other scheme", () => {
    for (const relayUrl of ["ws://localhost:3000", "ws://127.0.0.1:3000/", "WS://LOCALHOST:3000"]) {
      assert.isTrue(accepts(answer({ relayUrl })), relayUrl)
    }
    for (const relayUrl of ["http://127.0.0.1:3000", "wss://127.0.0.1:3000", "ws://127.0.0.1:3001", "", "not a url"]) {
      assert.isFalse(accepts(answer({ relayUrl })), relayUrl)
    }
  })

  it("refuses everything else with the relay's one text", () => {
    const event = answer()
    for (const bad of [
      { ...event, sig: "0".repeat(128) },
      { ...event, content: "changed" },
      signedBy(identity, { kind: 1, created_at: NOW, tags: event.tags }),
      signedBy(identity, { kind: 22_242, created_at: NOW, tags: [] }),
      answer({ challenge: "other" }),
      answer({ now: NOW - 61 }),
      answer({ now: NOW + 61 })
    ]) {
      assert.deepStrictEqual(Nip42.verify(pure, bad, expected), Result.fail("auth-required: verification failed"))
    }
    assert.isTrue(accepts(answer({ now: NOW - 60 })))
  })
})
