import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { derive, identityIdOf, taskUserId } from "../src/DirectoryIdentity.ts"
import { pure } from "../src/Schnorr.ts"
import { testIdentity } from "../src/testing/TestIdentity.ts"

const owner = testIdentity(3).secretKey
const keyOf = (identityId: string) => derive(pure, owner, identityId)

describe("a directory identity", () => {
  it("has the key of the published vectors, for the owner whose secret is 3", () => {
    const user = keyOf("benchmark-user-01")
    assert.strictEqual(
      Redacted.value(user.secretKey),
      "87bb5eee7b965a579c96c89290e0ba2655f832e7917ebe7f59cce7f0dae9c6dc"
    )
    assert.strictEqual(user.pubkey, "dad24bcae7093b1b17dbf394a43781055ff229cbf81ecd1f2681c3e77f59f7e6")
    assert.match(keyOf("benchmark-bot-01").pubkey, /^070113cecf8517e7/)
    assert.match(keyOf(taskUserId("user-mention")).pubkey, /^0725089e19ad47c7/)
  })

  it("is told apart by its id, not by its name", () => {
    const [first, second] = ["a", "b"].map((identityId) => identityIdOf({ name: "Ada", role: "user", identityId }))
    assert.notStrictEqual(keyOf(first ?? "").pubkey, keyOf(second ?? "").pubkey)
    assert.strictEqual(identityIdOf({ name: "Ada", role: "user" }), "Ada")
  })

  it("is another for another owner", () => {
    assert.notStrictEqual(derive(pure, testIdentity(4).secretKey, "Ada").pubkey, keyOf("Ada").pubkey)
  })
})
