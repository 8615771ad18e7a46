/**
 * Which failures of a relay are tried again, how often and after which pause. Only what is safe to repeat is: a query, and
 * an event that is already signed, which keeps its id and so cannot be stored twice.
 */
import * as Backoff from "./internal/backoff.ts"
import type { RelayReason } from "./RelayError.ts"

/** `attempts` counts the first one too. Pauses double from `baseMillis` up to `capMillis`, plus up to half as jitter. */
export interface RetryRule {
  readonly attempts: number
  readonly baseMillis: number
  readonly capMillis: number
}

/** What is tried again, by kind of failure. */
export interface RetryPolicy {
  /** For `RelayUnreachable`: no connection, a time-out, status 502, 503 or 504. */
  readonly unreachable: RetryRule
  /** For `RelayRateLimited`: status 429 or `rate-limited:`. The relay's own wish for a longer pause is obeyed. */
  readonly rateLimited: RetryRule
}

/**
 * A relay that restarts is waited for some eight seconds. A rate limit is waited out for at least 63 seconds, because the
 * relay counts calls in windows of 60.
 */
export const standard: RetryPolicy = {
  unreachable: { attempts: 6, baseMillis: 250, capMillis: 4_000 },
  rateLimited: { attempts: 7, baseMillis: 1_000, capMillis: 32_000 }
}

/** Every failure is final. */
export const never: RetryPolicy = {
  unreachable: { attempts: 1, baseMillis: 0, capMillis: 0 },
  rateLimited: { attempts: 1, baseMillis: 0, capMillis: 0 }
}

/** A relay that wants a longer pause than this is not waited for: a caller's deadline would be over first. */
export const LONGEST_WISH_MILLIS = 120_000

/** Milliseconds to wait after `failures` failures in a row, or `undefined` to give up. `random` is in [0, 1). */
export const pauseMillis = (
  policy: RetryPolicy,
  reason: RelayReason,
  failures: number,
  random: number
): number | undefined => {
  switch (reason._tag) {
    case "RelayUnreachable": {
      const rule = policy.unreachable
      return failures < rule.attempts ? Backoff.delayMillis(rule, failures, random) : undefined
    }
    case "RelayRateLimited": {
      const rule = policy.rateLimited
      const asked = reason.retryAfterMillis ?? 0
      const goesOn = failures < rule.attempts && asked <= LONGEST_WISH_MILLIS
      return goesOn ? Math.max(asked, Backoff.delayMillis(rule, failures, random)) : undefined
    }
    default:
      return undefined
  }
}
