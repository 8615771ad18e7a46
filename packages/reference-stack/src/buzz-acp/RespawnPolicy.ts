/**
 * When an agent process that died is started again. Pure.
 */

/** This many deaths within the window open the circuit. */
const MAX_DEATHS = 3
const WINDOW_MILLIS = 60_000
/** While the circuit is open nothing is started. */
export const CIRCUIT_MILLIS = 300_000
const MAX_DELAY_MILLIS = 30_000

/** Times of the deaths of one agent, in milliseconds, oldest first. */
export type Deaths = ReadonlyArray<number>

/** What to do after a death. */
export type Respawn =
  | { readonly _tag: "After"; readonly delayMillis: number }
  | { readonly _tag: "CircuitOpen"; readonly deaths: number }

/** Adds a death at `now`: 1, 2, 4… seconds until the next start, until there were too many at once. */
export const died = (deaths: Deaths, now: number): readonly [Deaths, Respawn] => {
  const recent = [...deaths.filter((time) => now - time < WINDOW_MILLIS), now]
  if (recent.length >= MAX_DEATHS) return [[], { _tag: "CircuitOpen", deaths: recent.length }]
  return [recent, { _tag: "After", delayMillis: Math.min(MAX_DELAY_MILLIS, 1000 * 2 ** (recent.length - 1)) }]
}
