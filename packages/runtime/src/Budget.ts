/**
 * What a team may use, and whether it has. Pure. Only what agents report counts, so a limit is noticed with the report that
 * passes it and never before. Sums of money are for comparing with a limit, not for bills.
 */
import type { AgentClass, ExperimentManifest, Price } from "@buzz-orchestra/manifest/ExperimentManifest"
import type { UsageTotals } from "./Usage.ts"

/** An agent, its class, and what it has reported so far; `undefined` when nothing. */
export interface AgentUsage {
  readonly agentId: string
  readonly agentClass: AgentClass
  readonly totals: UsageTotals | undefined
}

/** The first limit that is used up, in words; `undefined` while there is something left of each. */
export const exceeded = (manifest: ExperimentManifest, agents: ReadonlyArray<AgentUsage>): string | undefined => {
  let total = 0
  for (const { agentClass, agentId, totals } of agents) {
    if (totals === undefined) continue
    const { budget, endpoint } = agentClass
    const price = manifest.prices[endpoint]
    const usd = price === undefined ? 0 : costUsd(price, totals)
    total += usd
    const used =
      limit("input tokens", totals.inputTokens, budget.max_input_tokens) ??
      limit("output tokens", totals.outputTokens, budget.max_output_tokens) ??
      limit("US dollars", usd, budget.max_cost_usd)
    if (used !== undefined) return `${agentId} used ${used}`
  }
  const used = limit("US dollars", total, manifest.trial_budget.max_cost_usd)
  return used === undefined ? undefined : `the team used ${used}`
}

/** What these tokens cost. Input whose share from the cache was not measured is split by the price's own rate. */
export const costUsd = (price: Price, { cachedTokens, inputTokens, outputTokens }: UsageTotals): number => {
  const cached = Math.min(inputTokens, cachedTokens ?? Math.round(inputTokens * price.cache_read_rate))
  const input = (inputTokens - cached) * price.input_per_million_usd + cached * price.cached_input_per_million_usd
  return (input + outputTokens * price.output_per_million_usd) / 1e6
}

const limit = (what: string, used: number, most: number | null): string | undefined =>
  most !== null && used >= most ? `${Math.round(used * 1e4) / 1e4} of ${most} ${what}` : undefined
