/**
 * What a whole trial used and cost, and how far that is known. Pure.
 *
 * Unknown is never counted as zero: where one agent's number is unknown, so is the trial's, and what is known at all stands
 * beside it as `at_least`. An agent that never took a turn is idle and cost nothing. Sums are exact.
 */
import { Schema } from "effect"
import * as Cost from "./Cost.ts"
import * as Receipt from "./Receipt.ts"

const Tokens = Schema.NullOr(Schema.Int)
const Dollars = Schema.NullOr(Schema.Finite)
const Names = Schema.Array(Schema.String)

/** Sums over all agents. Null where one of them is unknown. Amounts are in US dollars. */
export const Totals = Schema.Struct({
  input_tokens: Tokens,
  output_tokens: Tokens,
  /** The measured part of `input_tokens` that came from a cache. */
  cached_tokens: Tokens,
  cost_usd: Dollars,
  cost_usd_no_cache_discount: Dollars,
  /** With the most that the calls can have cost which wrote summaries; null when there is no such bound. */
  cost_usd_including_handoff_bound: Dollars
})
/** Sums over all agents. */
export type Totals = typeof Totals.Type

/** How far the sums are known. Field names are those under which the existing tools know them. */
export const Accounting = Schema.Struct({
  source: Schema.Literal("acp-usage-log"),
  /** Whether every agent that worked was measured, to the end of its last turn. */
  reconciled: Schema.Boolean,
  /** Why it is, or is not. */
  note: Schema.String,
  warnings: Schema.Array(Schema.String),
  /** What is known at all: a trial used and cost at least so much. */
  at_least: Schema.Struct({ input_tokens: Schema.Int, output_tokens: Schema.Int, cost_usd: Schema.Finite }),
  estimated_cache_read_tokens: Tokens,
  /** Whether some of the input was priced as cached by an estimate. */
  assumes_cache_discount: Schema.Boolean,
  cache_read_tokens_are_measured: Schema.Boolean,
  handoffs: Schema.Int,
  handoff_truncations: Schema.Int,
  handoff_cost_usd_upper_bound: Dollars,
  /** Took no turn. */
  idle_agents: Names,
  /** Took a turn, and did not say what it used. */
  unmeasured_agents: Names,
  /** Did not say what its last turn used. */
  owing_agents: Names,
  /** Was ended in a turn. */
  interrupted_agents: Names
})
/** How far the sums of a trial are known. */
export type Accounting = typeof Accounting.Type

/** A trial's accounts. */
export interface Accounts {
  readonly receipts: ReadonlyArray<Receipt.Receipt>
  readonly totals: Totals
  readonly accounting: Accounting
}

/** The accounts of these agents. `trouble` says why their logs may not be there to the end; `undefined` when they are. */
export const of = (agents: ReadonlyArray<Receipt.AccountedAgent>, trouble?: string): Accounts => {
  const all = agents.map(Receipt.of)
  const receipts = all.map(({ receipt }) => receipt)
  const named = (holds: (receipt: Receipt.Receipt) => boolean) => receipts.filter(holds).map(({ agent_id }) => agent_id)
  const groups: Groups = {
    idle: named(({ measurement }) => measurement === "idle"),
    unmeasured: named(({ measurement }) => measurement === "unmeasured"),
    owing: named(({ measurement, owes_usage }) => owes_usage && measurement === "measured"),
    interrupted: named(({ in_turn_at_end }) => in_turn_at_end)
  }
  const handoffs = count(receipts.map((receipt) => receipt.handoffs))
  const verdict = reconcile(receipts, groups, trouble)
  return {
    receipts,
    totals: totalsOf(all),
    accounting: {
      source: "acp-usage-log",
      reconciled: verdict.reconciled,
      note: verdict.note + (handoffs === 0 ? "" : `; ${handoffs} handoffs are in no metered number, which is a floor`),
      warnings: receipts.flatMap(warningsOf),
      at_least: {
        input_tokens: count(all.map(({ least }) => least.inputTokens)),
        output_tokens: count(all.map(({ least }) => least.outputTokens)),
        cost_usd: Cost.toNumber(Cost.sum(all.map(({ amounts }) => amounts.leastUsd)))
      },
      estimated_cache_read_tokens: total(receipts.map((receipt) => receipt.estimated_cache_read_tokens)),
      assumes_cache_discount: receipts.some(
        (receipt) => receipt.cache_read_tokens_are_estimated && (receipt.estimated_cache_read_tokens ?? 0) > 0
      ),
      cache_read_tokens_are_measured:
        receipts.length > 0 &&
        receipts.every((receipt) => receipt.measurement !== "unmeasured" && !receipt.cache_read_tokens_are_estimated),
      handoffs,
      handoff_truncations: count(receipts.map((receipt) => receipt.handoff_truncations)),
      handoff_cost_usd_upper_bound:
        handoffs === 0
          ? null
          : Cost.toNullable(
              totalUsd(all.flatMap(({ amounts, receipt }) => (receipt.handoffs === 0 ? [] : [amounts.handoffUsd])))
            ),
      idle_agents: groups.idle,
      unmeasured_agents: groups.unmeasured,
      owing_agents: groups.owing,
      interrupted_agents: groups.interrupted
    }
  }
}

interface Groups {
  readonly idle: ReadonlyArray<string>
  readonly unmeasured: ReadonlyArray<string>
  readonly owing: ReadonlyArray<string>
  readonly interrupted: ReadonlyArray<string>
}

const totalsOf = (all: ReadonlyArray<Receipt.Accounted>): Totals => ({
  input_tokens: total(all.map(({ receipt }) => receipt.input_tokens)),
  output_tokens: total(all.map(({ receipt }) => receipt.output_tokens)),
  cached_tokens: total(all.map(({ receipt }) => receipt.cached_input_tokens)),
  cost_usd: Cost.toNullable(totalUsd(all.map(({ amounts }) => amounts.usd))),
  cost_usd_no_cache_discount: Cost.toNullable(totalUsd(all.map(({ amounts }) => amounts.usdWithoutDiscount))),
  cost_usd_including_handoff_bound: Cost.toNullable(totalUsd(all.map(({ amounts }) => amounts.usdIncludingHandoffs)))
})

const reconcile = (receipts: ReadonlyArray<Receipt.Receipt>, groups: Groups, trouble: string | undefined) => {
  const { idle, interrupted, owing, unmeasured } = groups
  const problems = [
    ...(receipts.length === 0 ? ["no agents were provisioned"] : []),
    ...(receipts.length > 0 && idle.length === receipts.length ? ["no agent was ever woken"] : []),
    ...(unmeasured.length === 0
      ? []
      : [`${list(unmeasured)} took turns without saying what they used (does RUST_LOG have acp::usage=debug?)`]),
    ...(owing.length === 0 ? [] : [`the last turn of ${list(owing)} was not reported, so the numbers are too low`]),
    ...(trouble === undefined ? [] : [`the logs may end early: ${trouble}`])
  ]
  if (problems.length > 0) return { reconciled: false, note: problems.join("; ") }
  const asides = [
    ...(idle.length === 0 ? [] : [`${list(idle)} never woken, at no cost`]),
    ...(interrupted.length === 0
      ? []
      : [`${list(interrupted)} ended in a turn, of which a call under way is in no number`])
  ]
  return { reconciled: true, note: ["every agent that worked was measured", ...asides].join("; ") }
}

const warningsOf = (receipt: Receipt.Receipt): ReadonlyArray<string> => [
  ...(receipt.cache_read_rate === null
    ? [`the manifest has no price for ${receipt.endpoint} of ${receipt.agent_id}`]
    : []),
  ...(receipt.handoff_truncations === 0
    ? []
    : [`${receipt.agent_id} truncated its own history, ${receipt.handoff_truncations} times`]),
  ...(receipt.handoffs > 0 && receipt.handoff_input_tokens_upper_bound === null
    ? [`${receipt.agent_id} did not say how large the histories were that it handed off`]
    : [])
]

/** Null when one of them is. */
const total = (counts: ReadonlyArray<number | null>): number | null => {
  const known = counts.filter((it) => it !== null)
  return known.length < counts.length || counts.length === 0 ? null : count(known)
}

const totalUsd = (amounts: ReadonlyArray<Cost.Usd | undefined>): Cost.Usd | undefined => {
  const known = amounts.filter((it) => it !== undefined)
  return known.length < amounts.length || amounts.length === 0 ? undefined : Cost.sum(known)
}

const count = (counts: ReadonlyArray<number>): number => counts.reduce((sum, it) => sum + it, 0)

const list = (names: ReadonlyArray<string>): string => names.join(", ")
