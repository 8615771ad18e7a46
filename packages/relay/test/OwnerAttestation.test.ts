import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import * as Sha256 from "../src/internal/sha256.ts"
import * as Identity from "../src/Identity.ts"
import * as OwnerAttestation from "../src/OwnerAttestation.ts"
import { pure } from "../src/Schnorr.ts"
import { signedBy, testIdentity } from "../src/testing/TestIdentity.ts"

const owner = testIdentity(1)
const ownerSecret = hexToBytes(Redacted.value(owner.secretKey))
const agent = testIdentity(2)

/** The vector of the NIP's text. */
const PUBLISHED = {
  owner: "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
  agent: "c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5",
  conditions: "kind=1&created_at<1713957000",
  digest: "08cdecd55af4c28d3801fd69615dcf5cc04fab3bc134b38a840bf157197069a6",
  signature:
    "8b7df2575caf0a108374f8471722b233c53f9ff827a8b0f91861966c3b9dd5cb2e189eae9f49d72187674c2f5bd244145e10ff86c9f257ffe65a1ee5f108b369"
}

const verify = (tag: unknown, pubkey = agent.pubkey) =>
  OwnerAttestation.verify(pure, typeof tag === "string" ? tag : JSON.stringify(tag), pubkey)

const failureOf = (result: Result.Result<unknown, string>) => (Result.isFailure(result) ? result.failure : "accepted")

describe("OwnerAttestation", () => {
  it("agrees with the published vector", () => {
    assert.strictEqual(owner.pubkey, PUBLISHED.owner)
    assert.strictEqual(agent.pubkey, PUBLISHED.agent)
    const preimage = OwnerAttestation.preimage(PUBLISHED.agent, PUBLISHED.conditions)
    assert.strictEqual(Sha256.hex(preimage), PUBLISHED.digest)
    const result = verify(["auth", PUBLISHED.owner, PUBLISHED.conditions, PUBLISHED.signature])
    assert.deepStrictEqual(result, Result.succeed({ owner: PUBLISHED.owner, conditions: PUBLISHED.conditions }))
  })

  it("hashes empty conditions with a trailing colon", () => {
    // Measured with the Python implementation for owner 00…03.
    assert.strictEqual(testIdentity(3).pubkey, "f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9")
    assert.strictEqual(
      Sha256.hex(OwnerAttestation.preimage("a".repeat(64), "")),
      "72ead380953efd3499b72eb1dd70fdb51b9b4ec67eda6d187e80a7c9374fda48"
    )
  })

  it("makes what it verifies, as compact JSON", () => {
    const tag = OwnerAttestation.attest(pure, owner.secretKey, agent.pubkey)
    assert.match(tag, /^\["auth","[0-9a-f]{64}","","[0-9a-f]{128}"\]$/)
    assert.deepStrictEqual(verify(tag), Result.succeed({ owner: owner.pubkey, conditions: "" }))
  })

  it("takes conditions in canonical form only", () => {
    for (const good of ["", "kind=0", "kind=65535", "created_at<0", "created_at>4294967295", "kind=1&kind=2"]) {
      const tag = OwnerAttestation.attest(pure, owner.secretKey, agent.pubkey, good)
      assert.isTrue(Result.isSuccess(verify(tag)), good)
    }
    for (const bad of [
      "kind=65536",
      "kind=01",
      "kind=-1",
      "kind=",
      "kind =1",
      " ",
      "&",
      "kind=1&",
      "created_at=1",
      "created_at<4294967296",
      "created_at<99999999999",
      "pubkey=1",
      "Kind=1"
    ]) {
      assert.throws(() => OwnerAttestation.attest(pure, owner.secretKey, agent.pubkey, bad), RangeError)
      const signature = pure.sign(Sha256.digest(OwnerAttestation.preimage(agent.pubkey, bad)), ownerSecret)
      assert.match(failureOf(verify(["auth", owner.pubkey, bad, bytesToHex(signature)])), /conditions/, bad)
    }
  })

  it("refuses tags that are not exactly the form", () => {
    const good = JSON.parse(OwnerAttestation.attest(pure, owner.secretKey, agent.pubkey)) as ReadonlyArray<string>
    const [name, key = "", conditions, signature = ""] = good
    for (const bad of [
      "not json",
      "{}",
      "null",
      [],
      [...good, "more"],
      good.slice(0, 3),
      ["oauth", key, conditions, signature],
      [name, key.toUpperCase(), conditions, signature],
      [name, key, conditions, signature.toUpperCase()],
      [name, key.slice(2), conditions, signature],
      [name, key, 0, signature],
      [name, key, conditions, `${signature.slice(0, -2)}00`]
    ]) {
      assert.isTrue(Result.isFailure(verify(bad)), JSON.stringify(bad))
    }
  })

  it("belongs to one key, and never to the owner's own", () => {
    const tag = OwnerAttestation.attest(pure, owner.secretKey, agent.pubkey)
    assert.match(failureOf(verify(tag, testIdentity(3).pubkey)), /does not belong/)
    assert.throws(() => OwnerAttestation.attest(pure, owner.secretKey, owner.pubkey), RangeError)
    assert.match(failureOf(verify(tag, owner.pubkey)), /own key/)
  })

  it("reads an event's only attestation", () => {
    const attested = Identity.attested(pure, agent, owner)
    const tags = OwnerAttestation.eventTags(attested.authTag)
    const event = signedBy(agent, { kind: 0, tags })
    assert.deepStrictEqual(OwnerAttestation.ofEvent(pure, event), { owner: owner.pubkey, conditions: "" })
    assert.isUndefined(OwnerAttestation.ofEvent(pure, signedBy(agent, { kind: 0 })))
    assert.isUndefined(OwnerAttestation.ofEvent(pure, signedBy(agent, { kind: 0, tags: [...tags, ...tags] })))
    assert.isUndefined(OwnerAttestation.ofEvent(pure, signedBy(testIdentity(3), { kind: 0, tags })))
  })

  it("leaves keys without an owner, and the owner itself, without a tag", () => {
    assert.deepStrictEqual(OwnerAttestation.eventTags(undefined), [])
    assert.isUndefined(Identity.attested(pure, owner, owner).authTag)
    const tag = Identity.attested(pure, agent, owner).authTag
    assert.strictEqual(String(tag), "<redacted:auth tag>")
    assert.isDefined(tag === undefined ? undefined : Redacted.value(tag))
  })
})
