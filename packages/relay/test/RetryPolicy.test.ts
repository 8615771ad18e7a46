import { assert, describe, it } from "@effect/vitest"
import { RelayRateLimited, RelayRefused, RelayUnreachable } from "../src/RelayError.ts"
import * as RetryPolicy from "../src/RetryPolicy.ts"

const url = "http://relay"
const unreachable = new RelayUnreachable({ url, detail: "gone" })
const limited = (retryAfterMillis?: number) => new RelayRateLimited({ url, detail: "slow down", retryAfterMillis })

const pauses = (reason: Parameters<typeof RetryPolicy.pauseMillis>[1], random: number) => {
  const all: Array<number> = []
  for (let failures = 1; ; failures++) {
    const pause = RetryPolicy.pauseMillis(RetryPolicy.standard, reason, failures, random)
    if (pause === undefined) return all
    all.push(pause)
  }
}

describe("RetryPolicy", () => {
  it("waits for a relay that restarts, ever longer", () => {
    assert.deepStrictEqual(pauses(unreachable, 0), [250, 500, 1_000, 2_000, 4_000])
  })

  it("waits out a rate limit for longer than the relay's window of a minute", () => {
    assert.deepStrictEqual(pauses(limited(), 0), [1_000, 2_000, 4_000, 8_000, 16_000, 32_000])
    assert.isAbove(
      pauses(limited(), 0).reduce((a, b) => a + b),
      60_000
    )
  })

  it("stretches pauses by up to half", () => {
    assert.deepStrictEqual(pauses(unreachable, 0.999_999).slice(0, 2), [375, 750])
  })

  it("obeys a relay that asks for a longer pause, within reason", () => {
    assert.strictEqual(RetryPolicy.pauseMillis(RetryPolicy.standard, limited(5_000), 1, 0), 5_000)
    assert.strictEqual(RetryPolicy.pauseMillis(RetryPolicy.standard, limited(10), 1, 0), 1_000)
    assert.isUndefined(RetryPolicy.pauseMillis(RetryPolicy.standard, limited(120_001), 1, 0))
  })

  it("repeats no decision of the relay, and nothing at all when told so", () => {
    const refused = new RelayRefused({ url, status: 400, detail: "invalid: x" })
    assert.isUndefined(RetryPolicy.pauseMillis(RetryPolicy.standard, refused, 1, 0))
    assert.isUndefined(RetryPolicy.pauseMillis(RetryPolicy.never, unreachable, 1, 0))
    assert.isUndefined(RetryPolicy.pauseMillis(RetryPolicy.never, limited(), 1, 0))
  })
})
