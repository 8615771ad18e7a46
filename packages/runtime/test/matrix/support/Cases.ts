/**
 * How many random cases a suite runs, and from which seed. The one place where the counts of `npm test` become those of
 * `npm run soak`.
 */
import { Arbitrary, Schema } from "effect"

/** Whether this run is a soak: it takes as long as it takes. */
export const SOAKING = process.env["SOAK"] === "1"

/** Whether tests are to be quick, as `vitest.config.ts` has decided. */
export const QUICK = process.env["TESTS"] === "quick"

/** The number of cases: `CASES` where it is set, else `quick`, or `soak` in a soak. */
export const count = (quick: number, soak: number): number => {
  const asked = Number(process.env["CASES"])
  return Number.isInteger(asked) && asked > 0 ? asked : SOAKING ? soak : quick
}

/** Options of a property. `SEED` repeats all cases of a run, `REPLAY` the one case whose failure printed it. */
export const options = (quick: number, soak: number): Arbitrary.CheckOptions => ({
  runs: count(quick, soak),
  seed: process.env["SEED"],
  replay: process.env["REPLAY"]
})

/** A test's limit in milliseconds. */
export const timeout = (quick: number): number => (SOAKING ? 24 * 3_600_000 : quick)

/** A whole number from 0 to `maximum`. */
export const upTo = (maximum: number): Arbitrary.Arbitrary<number> =>
  Arbitrary.schema(Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 0, maximum }))))
