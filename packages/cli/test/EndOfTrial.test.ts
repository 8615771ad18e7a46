import { assert, describe, it } from "@effect/vitest"
import { endLines } from "../src/EndOfTrial.ts"
import { PLAIN } from "../src/Style.ts"
import { at, modelAfter, started } from "./events.ts"

const costLine = (fields: {
  readonly costUsd: number | undefined
  readonly atLeastUsd?: number
  readonly reconciled?: boolean
}) => {
  const { atLeastUsd = fields.costUsd ?? 0, costUsd, reconciled = true } = fields
  const note = reconciled ? "every agent that worked was measured" : "worker-1 took turns without saying what they used"
  const model = modelAfter(started, at(1000, { _tag: "Accounted", costUsd, atLeastUsd, reconciled, note }))
  const lines = endLines(model, {
    ended: { _tag: "Returned" },
    directory: "trials/x",
    command: "buzz-orchestra",
    style: PLAIN
  })
  return lines.find((line) => line.startsWith("cost"))
}

describe("the last lines of a trial", () => {
  it("say what it cost, in as many digits as a person reads", () => {
    assert.strictEqual(costLine({ costUsd: 3.9 }), "cost      3.9 USD")
    assert.strictEqual(costLine({ costUsd: 12.345_678 }), "cost      12.3457 USD")
    assert.strictEqual(costLine({ costUsd: 0.000_123_4 }), "cost      0.00012 USD")
    assert.strictEqual(costLine({ costUsd: 0 }), "cost      0 USD")
  })

  it("say what is not known of it", () => {
    assert.strictEqual(
      costLine({ costUsd: undefined, atLeastUsd: 1.5, reconciled: false }),
      "cost      unknown, at least 1.5 USD: worker-1 took turns without saying what they used"
    )
    assert.match(costLine({ costUsd: 2, reconciled: false }) ?? "", /^cost {6}at least 2 USD: worker-1/)
  })

  it("say nothing of a cost where nobody was ever woken", () => {
    assert.isUndefined(costLine({ costUsd: 0, reconciled: false }))
  })
})
