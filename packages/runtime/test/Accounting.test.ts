import type { AgentClass, Price } from "@buzz-orchestra/manifest/ExperimentManifest"
import { conditionWith } from "@buzz-orchestra/manifest/testing/TestManifest"
import * as Accounting from "@buzz-orchestra/runtime/Accounting"
import * as Cost from "@buzz-orchestra/runtime/Cost"
import * as LoggedAgent from "@buzz-orchestra/runtime/LoggedAgent"
import * as Receipt from "@buzz-orchestra/runtime/Receipt"
import { assert, describe, it } from "@effect/vitest"
import { BigDecimal, Schema } from "effect"
import * as Unenforced from "../src/Unenforced.ts"

const CHANNEL = "99999999-8888-4777-8666-555555555555"
const PRICE: Price = {
  input_per_million_usd: 5,
  cached_input_per_million_usd: 0.5,
  output_per_million_usd: 25,
  cache_read_rate: 0
}
const TURN = [
  `pool::prompt: turn starting for channel ${CHANNEL}`,
  `pool::prompt: turn complete for channel ${CHANNEL}: end_turn`
]

const classWith = (fields: object = {}): AgentClass =>
  conditionWith({ roster: [{ id: "lead", ...fields }] }).manifest.roster[0]

/** An agent whose log has these records on stdout, and these of `buzz-agent` on stderr. */
const agent = (
  agentId: string,
  stdout: ReadonlyArray<string>,
  stderr: ReadonlyArray<string> = [],
  price: Price | undefined = PRICE,
  agentClass = classWith()
): Receipt.AccountedAgent => {
  const log = (lines: ReadonlyArray<string>) =>
    new TextEncoder().encode(
      lines.map((line, n) => `2026-01-01T00:00:${`${n}`.padStart(2, "0")}Z  INFO ${line}\n`).join("")
    )
  const read = LoggedAgent.feed(LoggedAgent.initial(CHANNEL), "stdout", log(stdout))
  const known = LoggedAgent.finish(LoggedAgent.feed(read, "stderr", log(stderr)))
  return { agentId, agentClass, price, known }
}

const usage = (input: number | string, output: number | string, cached?: number | string, session = "s1"): string =>
  `acp::usage: goose usage update session_id=${session} input=${input} output=${output}` +
  (cached === undefined ? "" : ` cached=${cached}`)
const handoff = (before: number): string =>
  `buzz_agent::agent: handoff #1 (history 80 -> 3 items; ${before} -> 9000 tokens)`

const accounts = (...agents: ReadonlyArray<Receipt.AccountedAgent>) => Accounting.of(agents)
const receiptOf = (it: Receipt.AccountedAgent) => Receipt.of(it).receipt

describe("the worked example", () => {
  it("with a measured cache and one handoff costs 3.90, 7.50, 1.70 and 5.60", () => {
    const { accounting, receipts, totals } = accounts(
      agent("lead-1", [...TURN, usage(1_000_000, 100_000, 800_000)], [handoff(180_000)])
    )
    assert.deepInclude(receipts[0], {
      cost_usd: 3.9,
      cost_usd_no_cache_discount: 7.5,
      handoff_input_tokens_upper_bound: 180_000,
      handoff_output_tokens_upper_bound: 32_000,
      handoff_cost_usd_upper_bound: 1.7,
      cost_usd_including_handoff_bound: 5.6,
      estimated_cache_read_tokens: 800_000,
      cache_read_tokens_are_estimated: false
    })
    assert.deepInclude(totals, { cost_usd: 3.9, cost_usd_including_handoff_bound: 5.6, cached_tokens: 800_000 })
    assert.deepInclude(accounting, { reconciled: true, handoffs: 1, handoff_cost_usd_upper_bound: 1.7 })
    assert.include(accounting.note, "floor")
  })

  it("without a measured cache and with a rate of 0.75 costs 4.125, and says that it is an estimate", () => {
    const { accounting, receipts, totals } = accounts(
      agent("lead-1", [...TURN, usage(1_000_000, 100_000)], [], { ...PRICE, cache_read_rate: 0.75 })
    )
    assert.deepInclude(receipts[0], {
      cost_usd: 4.125,
      estimated_cache_read_tokens: 750_000,
      cache_read_tokens_are_estimated: true,
      cached_input_tokens: null
    })
    assert.strictEqual(totals.cost_usd, 4.125)
    assert.deepInclude(accounting, { assumes_cache_discount: true, cache_read_tokens_are_measured: false })
  })
})

describe("a receipt", () => {
  it("has a line of its own with sorted keys, and decodes", () => {
    const receipt = receiptOf(agent("lead-1", [...TURN, usage(10, 2, 0)]))
    const line = Receipt.toLine(receipt)
    assert.notInclude(line, "\n")
    const keys = Object.keys(JSON.parse(line) as object)
    assert.deepStrictEqual(keys, keys.toSorted())
    assert.deepStrictEqual(Schema.decodeUnknownSync(Schema.fromJsonString(Receipt.Receipt))(line), receipt)
  })

  it("prices a measured zero in full without calling it an estimate, and the unknown at the rate", () => {
    const measured = receiptOf(
      agent("lead-1", [...TURN, usage(1_000_000, 0, 0)], [], { ...PRICE, cache_read_rate: 0.5 })
    )
    assert.deepInclude(measured, { cost_usd: 5, cache_read_tokens_are_estimated: false, cached_input_tokens: 0 })
    const unknown = receiptOf(agent("lead-1", [...TURN, usage(1_000_000, 0)], [], { ...PRICE, cache_read_rate: 0.5 }))
    assert.deepInclude(unknown, { cost_usd: 2.75, cost_usd_no_cache_discount: 5 })
    assert.deepInclude(receiptOf(agent("lead-1", [...TURN, usage(1_000_000, 0)])), { cost_usd: 5 })
  })

  it("clamps what came from the cache to the input, and never discounts output", () => {
    const receipt = receiptOf(agent("lead-1", [...TURN, usage(100, 1_000_000, 900)]))
    assert.deepInclude(receipt, { estimated_cache_read_tokens: 100, cost_usd: 25.00005 })
  })

  it("falls back to the rate for the whole agent when one session is silent on its cache", () => {
    const receipt = receiptOf(agent("lead-1", [...TURN, usage(100, 1, 50), usage(100, 1, undefined, "s2")]))
    assert.deepInclude(receipt, { cached_input_tokens: null, estimated_cache_read_tokens: 0, sessions: 2 })
  })

  it("reads both formats of counters on both streams, the maximum of each session, sessions summed", () => {
    const known = agent(
      "lead-1",
      [...TURN, usage("Some(300)", "Some(30)", 20), usage("Some(200)", "Some(20)", 10)],
      [usage(7, 3, 0, "s2")]
    )
    assert.deepInclude(receiptOf(known), { input_tokens: 307, output_tokens: 33, cached_input_tokens: 20, sessions: 2 })
  })

  it("has no bound without a handoff, the window's where a handoff has no size, none where there is no window", () => {
    const unsized = "buzz_agent::agent: handoff #1 (history 80 -> 3 items)"
    const lines = [...TURN, usage(10, 2, 0)]
    assert.deepInclude(receiptOf(agent("lead-1", lines)), { handoffs: 0, handoff_cost_usd_upper_bound: null })
    const windowed = classWith({ generation: { context_window_tokens: 200_000, max_output_tokens: 4096 } })
    assert.deepInclude(receiptOf(agent("lead-1", lines, [unsized], PRICE, windowed)), {
      handoff_input_tokens_upper_bound: 200_000
    })
    const unbounded = accounts(agent("lead-1", lines, [unsized], PRICE, classWith({ generation: {} })))
    assert.deepInclude(unbounded.receipts[0], {
      handoffs: 1,
      handoff_input_tokens_upper_bound: null,
      cost_usd_including_handoff_bound: null
    })
    assert.isNull(unbounded.totals.cost_usd_including_handoff_bound)
    assert.match(unbounded.accounting.warnings.join(), /lead-1 did not say how large/)
  })

  it("counts turns by their starts, those that failed too", () => {
    const failed = `pool::prompt: hard timeout (60 s)`
    const lines = [...TURN, TURN[0] ?? "", failed, usage(1, 1, 0)]
    assert.deepInclude(receiptOf(agent("lead-1", lines)), { turns: 2, measurement: "measured" })
  })

  it("of an endpoint without a price has no amounts, and is no crash", () => {
    const { accounting, receipts, totals } = accounts({
      ...agent("lead-1", [...TURN, usage(10, 2, 0)]),
      price: undefined
    })
    assert.deepInclude(receipts[0], { input_tokens: 10, cost_usd: null, cache_read_rate: null })
    assert.isNull(totals.cost_usd)
    assert.match(accounting.warnings.join(), /no price/)
  })
})

describe("the accounts of a trial", () => {
  const working = agent("lead-1", [...TURN, usage(1000, 100, 0)])
  const idle = agent("worker-1", [])
  const silent = agent("worker-2", TURN)

  it("know nothing without agents", () => {
    const { accounting, totals } = accounts()
    assert.deepInclude(accounting, { reconciled: false, note: "no agents were provisioned" })
    assert.isNull(totals.cost_usd)
  })

  it("count an agent that was never woken, or never launched, as nothing", () => {
    const { accounting, receipts, totals } = accounts(working, idle, { ...idle, agentId: "worker-3", known: undefined })
    assert.deepInclude(accounting, { reconciled: true, idle_agents: ["worker-1", "worker-3"] })
    assert.match(accounting.note, /worker-1, worker-3 never woken/)
    assert.deepInclude(totals, { input_tokens: 1000, cost_usd: 0.0075, cached_tokens: 0 })
    assert.deepInclude(receipts[1], { measurement: "idle", input_tokens: 0, cost_usd: 0, turns: 0 })
  })

  it("do not know a sum of which one part is unknown, and say who and at least how much", () => {
    const { accounting, totals } = accounts(working, silent)
    assert.deepInclude(accounting, { reconciled: false, unmeasured_agents: ["worker-2"] })
    assert.match(accounting.note, /worker-2 .*RUST_LOG/)
    assert.deepStrictEqual(accounting.at_least, { input_tokens: 1000, output_tokens: 100, cost_usd: 0.0075 })
    assert.deepInclude(totals, { input_tokens: null, output_tokens: null, cost_usd: null })
  })

  it("take a session that never said one of its counters for unknown", () => {
    const { accounting, receipts } = accounts(agent("lead-1", [...TURN, usage("Some(40)", "None", 0)]))
    assert.deepInclude(receipts[0], {
      measurement: "unmeasured",
      input_tokens: null,
      output_tokens: null,
      cost_usd: null
    })
    assert.strictEqual(accounting.at_least.input_tokens, 40)
  })

  it("are not reconciled when nobody was ever woken, and do not blame the log", () => {
    const { accounting } = accounts(idle)
    assert.isFalse(accounting.reconciled)
    assert.include(accounting.note, "no agent was ever woken")
    assert.notInclude(accounting.note, "RUST_LOG")
  })

  it("are not reconciled when the last turn was not reported, or a log may end early", () => {
    const owing = accounts(agent("lead-1", [...TURN, usage(10, 1, 0), ...TURN]))
    assert.deepInclude(owing.accounting, { reconciled: false, owing_agents: ["lead-1"] })
    assert.strictEqual(owing.totals.input_tokens, 10)
    const early = Accounting.of([working], "the environment is gone")
    assert.deepInclude(early.accounting, { reconciled: false, note: "the logs may end early: the environment is gone" })
  })

  it("say who was ended in a turn, and who truncated its history", () => {
    const { accounting } = accounts(
      agent("lead-1", [TURN[0] ?? "", usage(10, 1, 0)], ["buzz_agent::agent: handoff cap reached, truncating history"])
    )
    assert.deepInclude(accounting, { reconciled: true, interrupted_agents: ["lead-1"], handoff_truncations: 1 })
    assert.match(accounting.warnings.join(), /lead-1 truncated its own history/)
  })
})

describe("a cost", () => {
  const Counter = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10 ** 9 }))
  it.prop(
    "is summed without a binary fraction of a cent",
    { counts: Schema.Array(Schema.Struct({ inputTokens: Counter, outputTokens: Counter })) },
    ({ counts }) => {
      const price: Price = { ...PRICE, input_per_million_usd: 0.1, output_per_million_usd: 0.3 }
      const usd = Cost.sum(counts.map((tokens) => Cost.of(price, { ...tokens, cachedTokens: 0 }).usd))
      const tenths = counts.reduce((sum, it) => sum + BigInt(it.inputTokens) + 3n * BigInt(it.outputTokens), 0n)
      assert.isTrue(BigDecimal.equals(usd, BigDecimal.make(tenths, 7)))
    }
  )

  it("rounds the estimate of what was cached as Python rounds", () => {
    const price: Price = { ...PRICE, cache_read_rate: 0.5 }
    const cached = (inputTokens: number) =>
      Cost.of(price, { inputTokens, outputTokens: 0, cachedTokens: undefined }).cacheReadTokens
    assert.deepStrictEqual([1, 2, 3, 5, 7].map(cached), [0, 1, 2, 2, 4])
  })
})

describe("what a manifest says and a trial was not held to", () => {
  const LIMITS = { cpus: 4, memory_mb: null, storage_mb: null, pids: null }
  const fieldsOf = (
    condition: ReturnType<typeof conditionWith>,
    receipts: ReadonlyArray<Receipt.Receipt>,
    given: Unenforced.GivenLimits = LIMITS
  ) => Unenforced.of(condition.manifest, receipts, given).map(({ field }) => field)

  it("is nothing for a plain manifest whose agents report", () => {
    const condition = conditionWith({ roster: [{ id: "lead", budget: { max_cost_usd: 1 } }] })
    assert.deepStrictEqual(fieldsOf(condition, [receiptOf(agent("lead-1", [...TURN, usage(1, 1, 0)]))]), [])
  })

  it("is every limit on what was not reported", () => {
    const condition = conditionWith({
      roster: [{ id: "lead", budget: { max_cost_usd: 1, max_input_tokens: 5 } }, { id: "worker" }],
      trial_budget: { timeout_seconds: 60, max_cost_usd: 9 }
    })
    const silent = receiptOf(agent("lead-1", TURN))
    assert.deepStrictEqual(fieldsOf(condition, [silent]), [
      "roster[0].budget.max_input_tokens",
      "roster[0].budget.max_cost_usd",
      "trial_budget.max_cost_usd"
    ])
    const handed = receiptOf(agent("lead-1", [...TURN, usage(1, 1, 0)], [handoff(5)]))
    assert.match(Unenforced.of(condition.manifest, [handed], LIMITS)[0]?.why ?? "", /handoffs of lead-1/)
  })

  it("is every setting that no agent reads", () => {
    const condition = conditionWith({
      roster: [
        { id: "lead", count: 1, generation: { compact_at_percent: 80, extra: { a: 1 } } },
        { id: "worker", count: 2, concurrency: 2 }
      ],
      environment: { override_cpus: 4 }
    })
    assert.deepStrictEqual(
      Unenforced.of(condition.manifest, [], undefined).map(({ field }) => field),
      [
        "roster[0].generation.compact_at_percent",
        "roster[0].generation.extra.a",
        "roster[1].concurrency",
        "environment.override_cpus"
      ]
    )
    assert.notInclude(fieldsOf(condition, []), "environment.override_cpus")
    const [other] = Unenforced.of(condition.manifest, [], { ...LIMITS, cpus: 2 }).slice(-1)
    assert.deepStrictEqual(other, { field: "environment.override_cpus", why: "the engine gives 2" })
  })
})
