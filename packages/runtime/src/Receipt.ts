/**
 * What one agent used and what that cost: one line of `receipts.jsonl`. An agent that said nothing has a receipt too. Pure.
 *
 * Field names are those under which the existing tools know them. Token counts and amounts are null where they are unknown,
 * which is not zero; an agent that never took a turn used nothing, and that is zero.
 */
import type { AgentClass, Price } from "@buzz-orchestra/manifest/ExperimentManifest"
import { Schema } from "effect"
import * as AgentState from "./AgentState.ts"
import * as Cost from "./Cost.ts"
import * as Handoffs from "./Handoffs.ts"
import type { AgentKnown } from "./TeamState.ts"
import * as Usage from "./Usage.ts"

const Tokens = Schema.NullOr(Schema.Int)
const Dollars = Schema.NullOr(Schema.Finite)

/** `idle` took no turn; `unmeasured` took one, and not every session of it said both of its counters. */
export const Measurement = Schema.Literals(["measured", "idle", "unmeasured"])
/** Whether an agent's numbers are known. */
export type Measurement = typeof Measurement.Type

/** One agent's receipt. Amounts are in US dollars. */
export const Receipt = Schema.Struct({
  agent_id: Schema.String,
  class_id: Schema.String,
  role: Schema.String,
  endpoint: Schema.String,
  model_revision: Schema.String,
  measurement: Measurement,
  /** Of all sessions, cached ones included. */
  input_tokens: Tokens,
  output_tokens: Tokens,
  /** The measured part of `input_tokens`; null unless every session measured it. */
  cached_input_tokens: Tokens,
  cost_usd: Dollars,
  cost_usd_no_cache_discount: Dollars,
  /** Sessions that reported. */
  sessions: Schema.Int,
  source: Schema.Literal("acp-usage-log"),
  /** The part of the input that was priced as coming from the cache, measured or estimated. */
  estimated_cache_read_tokens: Tokens,
  /** Of the price; null when the manifest has no price for the endpoint, and then every amount is null as well. */
  cache_read_rate: Schema.NullOr(Schema.Finite),
  cache_read_tokens_are_estimated: Schema.Boolean,
  reasoning_tokens_included_in_output: Schema.Literal(true),
  handoffs: Schema.Int,
  handoff_truncations: Schema.Int,
  /** Bounds on the calls that wrote the summaries; null when there were none, or when there is no bound. */
  handoff_input_tokens_upper_bound: Tokens,
  handoff_output_tokens_upper_bound: Tokens,
  handoff_cost_usd_upper_bound: Dollars,
  cost_usd_including_handoff_bound: Dollars,
  /** Turns that began, or, of builds that do not log that, that ended. */
  turns: Schema.Int,
  /** Whether its last turn ended, or was ended, before its usage was reported: the numbers are then too low. */
  owes_usage: Schema.Boolean,
  /** Whether it was in a turn when it was ended: a call under way is in no number. */
  in_turn_at_end: Schema.Boolean
})
/** One agent's receipt. */
export type Receipt = typeof Receipt.Type

/** An agent, its class, and what is known of it at the end; `undefined` when it was never launched. */
export interface AccountedAgent {
  readonly agentId: string
  readonly agentClass: AgentClass
  /** The manifest's price of its endpoint. */
  readonly price: Price | undefined
  readonly known: AgentKnown | undefined
}

/** Exact amounts of a receipt, for sums. What is unknown is `undefined`. */
export interface Amounts {
  readonly usd: Cost.Usd | undefined
  readonly usdWithoutDiscount: Cost.Usd | undefined
  /** Of what is known at all: never more than `usd` would be. */
  readonly leastUsd: Cost.Usd
  readonly handoffUsd: Cost.Usd | undefined
  readonly usdIncludingHandoffs: Cost.Usd | undefined
}

/** A receipt with its exact amounts and the least that its agent used. */
export interface Accounted {
  readonly receipt: Receipt
  readonly amounts: Amounts
  readonly least: Cost.Tokens
}

const NOTHING: Usage.UsageTotals = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, sessions: 0, complete: true }

/** The receipt of an agent. */
export const of = (agent: AccountedAgent): Accounted => {
  const { agentClass, agentId, known, price } = agent
  const reported = known === undefined ? undefined : Usage.totals(known.usage)
  const turns = known === undefined ? 0 : AgentState.turns(known.state)
  const measurement = measure(turns, reported)
  const least = reported ?? NOTHING
  const cost = price === undefined ? undefined : Cost.of(price, least)
  const isKnown = measurement !== "unmeasured"
  const handoffs = known?.handoffs ?? Handoffs.initial
  const bound = Handoffs.bound(handoffs, agentClass.generation.context_window_tokens)
  const amounts = amountsOf(isKnown ? cost : undefined, cost, priceOf(price, bound), handoffs)
  const receipt: Receipt = {
    agent_id: agentId,
    class_id: agentClass.id,
    role: agentClass.role,
    endpoint: agentClass.endpoint,
    model_revision: agentClass.model_revision,
    measurement,
    input_tokens: isKnown ? least.inputTokens : null,
    output_tokens: isKnown ? least.outputTokens : null,
    cached_input_tokens: isKnown ? (least.cachedTokens ?? null) : null,
    cost_usd: Cost.toNullable(amounts.usd),
    cost_usd_no_cache_discount: Cost.toNullable(amounts.usdWithoutDiscount),
    sessions: known?.usage.size ?? 0,
    source: "acp-usage-log",
    estimated_cache_read_tokens: isKnown ? (cost?.cacheReadTokens ?? null) : null,
    cache_read_rate: price?.cache_read_rate ?? null,
    cache_read_tokens_are_estimated: cost?.isEstimated ?? false,
    reasoning_tokens_included_in_output: true,
    handoffs: handoffs.count,
    handoff_truncations: handoffs.truncations,
    handoff_input_tokens_upper_bound: bound?.inputTokens ?? null,
    handoff_output_tokens_upper_bound: bound?.outputTokens ?? null,
    handoff_cost_usd_upper_bound: Cost.toNullable(amounts.handoffUsd),
    cost_usd_including_handoff_bound: Cost.toNullable(amounts.usdIncludingHandoffs),
    turns,
    owes_usage: known?.settlement.owes ?? false,
    in_turn_at_end: known?.state._tag === "InTurn"
  }
  return { receipt, amounts, least }
}

/** As a line of `receipts.jsonl`, without its newline; keys are sorted. */
export const toLine = (receipt: Receipt): string =>
  JSON.stringify(Object.fromEntries(Object.entries(receipt).toSorted(([a], [b]) => (a < b ? -1 : 1))))

const measure = (turns: number, reported: Usage.UsageTotals | undefined): Measurement => {
  if (reported === undefined) return turns === 0 ? "idle" : "unmeasured"
  return reported.complete ? "measured" : "unmeasured"
}

/** No provider discounts what a handoff reads. */
const priceOf = (price: Price | undefined, bound: ReturnType<typeof Handoffs.bound>): Cost.Usd | undefined =>
  price === undefined || bound === undefined ? undefined : Cost.of(price, { ...bound, cachedTokens: 0 }).usd

const amountsOf = (
  cost: Cost.Cost | undefined,
  least: Cost.Cost | undefined,
  handoffUsd: Cost.Usd | undefined,
  { count }: Handoffs.Handoffs
): Amounts => ({
  usd: cost?.usd,
  usdWithoutDiscount: cost?.usdWithoutDiscount,
  leastUsd: least?.usd ?? Cost.zero,
  handoffUsd,
  usdIncludingHandoffs:
    cost === undefined || (count > 0 && handoffUsd === undefined)
      ? undefined
      : Cost.sum([cost.usd, handoffUsd ?? Cost.zero])
})
