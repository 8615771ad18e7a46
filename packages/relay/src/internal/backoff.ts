/** Growing pauses between attempts, with jitter so that many clients of one relay do not come back at once. */

/** First pause and greatest pause, in milliseconds, before jitter. */
export interface Backoff {
  readonly baseMillis: number
  readonly capMillis: number
}

/** The pause after `failures` failures in a row (from 1); `random` in [0, 1) stretches it by up to half. */
export const delayMillis = (backoff: Backoff, failures: number, random: number): number =>
  Math.round(Math.min(backoff.capMillis, backoff.baseMillis * 2 ** (failures - 1)) * (1 + random / 2))
