import { assert, describe, it } from "@effect/vitest"
import { verifyEvent } from "../src/EventSigning.ts"
import { remembering } from "../src/internal/rememberedSignatures.ts"
import { pure } from "../src/Schnorr.ts"
import { signedBy, testIdentity } from "../src/testing/TestIdentity.ts"

describe("remembered signatures", () => {
  it("are checked once, and those that are bad, or of something else, each time", () => {
    let checks = 0
    const schnorr = remembering({
      ...pure,
      verify: (...given) => {
        checks += 1
        return pure.verify(...given)
      }
    })
    const [event, other] = ["one", "two"].map((content) => signedBy(testIdentity(1), { kind: 9, content }))
    assert.isDefined(event)
    assert.isDefined(other)
    const verdicts = [
      event,
      event,
      { ...event, content: "another text" },
      { ...event, sig: other.sig },
      { ...event, sig: other.sig },
      other
    ].map((one) => verifyEvent(schnorr, one))
    assert.deepStrictEqual(verdicts, [true, true, false, false, false, true])
    assert.strictEqual(checks, 4)
  })
})
