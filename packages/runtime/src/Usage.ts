/**
 * Tokens that agents report. Counters are cumulative per session and lines may come twice or in the wrong order, so the
 * largest value of each counts; sessions add up. Unknown is not zero. Pure.
 */
import type { AgentSignal } from "./AgentSignal.ts"

/** What one session reported so far. `undefined` where it never said a number. */
export interface SessionUsage {
  readonly input: number | undefined
  readonly output: number | undefined
  /** The part of `input` that came from the provider's cache. */
  readonly cached: number | undefined
}

/** One agent's usage, by session id. */
export type Usage = ReadonlyMap<string, SessionUsage>

/** An agent's tokens over all its sessions. */
export interface UsageTotals {
  readonly inputTokens: number
  readonly outputTokens: number
  /** `undefined` unless every session measured it: a partial sum would look like a small one. */
  readonly cachedTokens: number | undefined
  readonly sessions: number
  /** Whether every session reported input and output; the sums are a lower bound otherwise. */
  readonly complete: boolean
}

/** No usage so far. */
export const initial: Usage = new Map()

/** Adds one report. */
export const record = (usage: Usage, signal: Extract<AgentSignal, { readonly _tag: "Usage" }>): Usage => {
  const before = usage.get(signal.sessionId)
  return new Map([
    ...usage,
    [
      signal.sessionId,
      {
        input: larger(before?.input, signal.input),
        output: larger(before?.output, signal.output),
        cached: larger(before?.cached, signal.cached)
      }
    ]
  ])
}

/** The sums; `undefined` for an agent that never reported any number. */
export const totals = (usage: Usage): UsageTotals | undefined => {
  const sessions = [...usage.values()]
  if (!sessions.some(({ input, output }) => input !== undefined || output !== undefined)) return undefined
  const measured = sessions.flatMap(({ cached }) => (cached === undefined ? [] : [cached]))
  return {
    inputTokens: sum(sessions.map(({ input }) => input ?? 0)),
    outputTokens: sum(sessions.map(({ output }) => output ?? 0)),
    cachedTokens: measured.length === sessions.length ? sum(measured) : undefined,
    sessions: sessions.length,
    complete: sessions.every(({ input, output }) => input !== undefined && output !== undefined)
  }
}

const larger = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : b === undefined ? a : Math.max(a, b)

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, n) => total + n, 0)
