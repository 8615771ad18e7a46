/**
 * What tokens cost, in decimal arithmetic: no cent is lost or made up by binary fractions, however many sessions are summed.
 * Pure. A price is in US dollars per million tokens; the part of the input that came from the provider's cache has its own.
 */
import type { Price } from "@buzz-orchestra/manifest/ExperimentManifest"
import { BigDecimal } from "effect"

/** An exact amount of US dollars. */
export type Usd = BigDecimal.BigDecimal

/** Tokens of one agent. `cachedTokens` is part of `inputTokens`; `undefined` means that nobody measured it. */
export interface Tokens {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number | undefined
}

/** What some tokens cost. */
export interface Cost {
  readonly usd: Usd
  /** The same tokens if nothing had come from the cache. */
  readonly usdWithoutDiscount: Usd
  /** The part of the input that was priced as coming from the cache. */
  readonly cacheReadTokens: number
  /** Whether that part was estimated by the price's own rate, because nobody measured it. */
  readonly isEstimated: boolean
}

/** Nothing. */
export const zero: Usd = BigDecimal.make(0n, 0)

/** What these tokens cost at this price. More tokens from the cache than there are cannot be: they count as all of them. */
export const of = (price: Price, { cachedTokens, inputTokens, outputTokens }: Tokens): Cost => {
  const cacheReadTokens = Math.min(inputTokens, cachedTokens ?? estimate(inputTokens, price.cache_read_rate))
  const output = times(outputTokens, price.output_per_million_usd)
  const perMillion = [
    times(inputTokens - cacheReadTokens, price.input_per_million_usd),
    times(cacheReadTokens, price.cached_input_per_million_usd),
    output
  ]
  return {
    usd: perToken(sum(perMillion)),
    usdWithoutDiscount: perToken(sum([times(inputTokens, price.input_per_million_usd), output])),
    cacheReadTokens,
    isEstimated: cachedTokens === undefined
  }
}

/** The exact sum. */
export const sum = (amounts: ReadonlyArray<Usd>): Usd => BigDecimal.sumAll(amounts)

/** The nearest number: the decimal digits themselves for any amount of up to 15 digits. For documents, never for sums. */
export const toNumber = (usd: Usd): number => BigDecimal.toNumberUnsafe(usd)

/** The nearest number, or null for an amount that is unknown. */
export const toNullable = (usd: Usd | undefined): number | null => (usd === undefined ? null : toNumber(usd))

/** As in the manifest: a decimal number that JavaScript has read is again the decimal it was written as. */
export const fromNumber = (usd: number): Usd => BigDecimal.fromNumberUnsafe(usd)

const times = (tokens: number, usd: number): Usd => BigDecimal.multiply(fromNumber(tokens), fromNumber(usd))

/** A million is six places of the scale, so that no division is needed. */
const perToken = ({ scale, value }: Usd): Usd => BigDecimal.normalize(BigDecimal.make(value, scale + 6))

const estimate = (tokens: number, rate: number): number =>
  toNumber(BigDecimal.round(times(tokens, rate), { scale: 0, mode: "half-even" }))
