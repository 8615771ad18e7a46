/**
 * Takes known secrets out of what is printed. The trial keeps them out of its own words; an agent may still write one
 * into the channel. Pure.
 */
import { Redacted } from "effect"

/** Shorter values are no secrets worth the name, and would blank out ordinary words. */
const SHORTEST = 8

/** A function that replaces each secret, and its JSON form, by `[redacted]`. */
export const scrubber = (secrets: ReadonlyArray<Redacted.Redacted<string>>): ((text: string) => string) => {
  const values = secrets
    .map((secret) => Redacted.value(secret))
    .filter((value) => value.length >= SHORTEST)
    .flatMap((value) => [value, JSON.stringify(value).slice(1, -1)])
  // Longest first: one secret may be the head of another.
  const ordered = [...new Set(values)].toSorted((a, b) => b.length - a.length)
  return (text) => ordered.reduce((clean, value) => clean.replaceAll(value, "[redacted]"), text)
}
