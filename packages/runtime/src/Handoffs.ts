/**
 * Histories that an agent replaced by a summary. The call that writes the summary is paid for and reported by nobody, so all
 * that can be known of it is a bound: it read at most the history, and wrote at most what an agent lets a model write. Pure.
 */
import type { AgentSignal } from "./AgentSignal.ts"

/** Tokens that the call of one handoff can have written at most. */
export const OUTPUT_BOUND = 32_000

/** What an agent said of its handoffs. */
export interface Handoffs {
  readonly count: number
  /** How often the history was cut off instead of summarized. */
  readonly truncations: number
  /** Tokens of the histories whose size it said. */
  readonly beforeTokens: number
  /** Handoffs whose size it did not say; older builds say none. */
  readonly unsized: number
}

/** None so far. */
export const initial: Handoffs = { count: 0, truncations: 0, beforeTokens: 0, unsized: 0 }

/** After a signal of its log; the same value comes back when it is about something else. */
export const heard = (handoffs: Handoffs, signal: AgentSignal): Handoffs => {
  switch (signal._tag) {
    case "HandedOff":
      return {
        ...handoffs,
        count: handoffs.count + 1,
        beforeTokens: handoffs.beforeTokens + (signal.before ?? 0),
        unsized: handoffs.unsized + (signal.before === undefined ? 1 : 0)
      }
    case "HistoryTruncated":
      return { ...handoffs, truncations: handoffs.truncations + 1 }
    default:
      return handoffs
  }
}

/**
 * At most so many tokens were used; `undefined` when there is no bound, because a size is unknown and so is the window, or
 * nothing to bound. `windowTokens` is the most that a history of this agent can hold.
 */
export const bound = (
  { beforeTokens, count, unsized }: Handoffs,
  windowTokens: number | null
): { readonly inputTokens: number; readonly outputTokens: number } | undefined => {
  if (count === 0 || (unsized > 0 && windowTokens === null)) return undefined
  return { inputTokens: beforeTokens + unsized * (windowTokens ?? 0), outputTokens: count * OUTPUT_BOUND }
}
