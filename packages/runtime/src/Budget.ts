/**
 * What a team may use, and whether it has. Pure. Only what agents report counts, so a limit is noticed with the report that
 * passes it and never before. A limit is reached exactly: amounts are decimal.
 */
import type { AgentClass, ExperimentManifest } from "@buzz-orchestra/manifest/ExperimentManifest"
import { BigDecimal } from "effect"
import * as Cost from "./Cost.ts"
import type { UsageTotals } from "./Usage.ts"

/** An agent, its class, and what it has reported so far; `undefined` when nothing. */
export interface AgentUsage {
  readonly agentId: string
  readonly agentClass: AgentClass
  readonly totals: UsageTotals | undefined
}

/** The first limit that is used up, in words; `undefined` while there is something left of each. */
export const exceeded = (manifest: ExperimentManifest, agents: ReadonlyArray<AgentUsage>): string | undefined => {
  let total = Cost.zero
  for (const { agentClass, agentId, totals } of agents) {
    if (totals === undefined) continue
    const { budget, endpoint } = agentClass
    const price = manifest.prices[endpoint]
    const usd = price === undefined ? Cost.zero : Cost.of(price, totals).usd
    total = Cost.sum([total, usd])
    const used =
      limit("input tokens", Cost.fromNumber(totals.inputTokens), budget.max_input_tokens) ??
      limit("output tokens", Cost.fromNumber(totals.outputTokens), budget.max_output_tokens) ??
      limit("US dollars", usd, budget.max_cost_usd)
    if (used !== undefined) return `${agentId} used ${used}`
  }
  const used = limit("US dollars", total, manifest.trial_budget.max_cost_usd)
  return used === undefined ? undefined : `the team used ${used}`
}

const limit = (what: string, used: Cost.Usd, most: number | null): string | undefined =>
  most !== null && BigDecimal.isGreaterThanOrEqualTo(used, Cost.fromNumber(most))
    ? `${Cost.toNumber(BigDecimal.round(used, { scale: 4 }))} of ${most} ${what}`
    : undefined
