/** Properties that name no count of their own run this often in a soak; `SEED` repeats the cases of an earlier one. */
import { Arbitrary } from "effect"

const RUNS = 5000

Arbitrary.configureGlobal({ check: { runs: Number(process.env["CASES"] ?? RUNS), seed: process.env["SEED"] } })
