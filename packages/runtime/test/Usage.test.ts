import { assert, describe, it } from "@effect/vitest"
import * as Usage from "@buzz-orchestra/runtime/Usage"
import { Schema } from "effect"

type Report = Parameters<typeof Usage.record>[1]

const report = (sessionId: string, input?: number, output?: number, cached?: number): Report => ({
  _tag: "Usage",
  sessionId,
  input,
  output,
  cached
})

const totals = (...reports: ReadonlyArray<Report>) => Usage.totals(reports.reduce(Usage.record, Usage.initial))

describe("Usage", () => {
  it("takes the largest value of each counter of a session, and adds sessions up", () => {
    assert.deepStrictEqual(
      totals(report("a", 10, 1, 4), report("a", 30, 5, 20), report("a", 20, 3, 9), report("b", 7, 2, 0)),
      {
        inputTokens: 37,
        outputTokens: 7,
        cachedTokens: 20,
        sessions: 2,
        complete: true
      }
    )
  })

  it("unknown is not zero", () => {
    assert.isUndefined(totals())
    assert.isUndefined(totals(report("a")))
    assert.deepInclude(totals(report("a", 10, 1)), { cachedTokens: undefined, complete: true })
    assert.deepInclude(totals(report("a", 10, 1, 0)), { cachedTokens: 0 })
    assert.deepInclude(totals(report("a", 10)), { inputTokens: 10, outputTokens: 0, complete: false })
  })

  it("one session that does not measure its cache makes the agent's unknown", () => {
    assert.deepInclude(totals(report("a", 10, 1, 8), report("b", 10, 1)), { cachedTokens: undefined })
    assert.deepInclude(totals(report("a", 10, 1), report("a", 10, 1, 8)), { cachedTokens: 8 })
  })

  const Counter = Schema.UndefinedOr(Schema.Natural)
  const Report = Schema.Struct({
    session: Schema.Literals(["a", "b", "c"]),
    input: Counter,
    output: Counter,
    cached: Counter
  })
  it.prop("neither order nor repetition of reports matters", { given: Schema.Array(Report) }, ({ given }) => {
    const reports = given.map(({ cached, input, output, session }) => report(session, input, output, cached))
    assert.deepStrictEqual(totals(...reports.toReversed(), ...reports), totals(...reports))
  })
})
