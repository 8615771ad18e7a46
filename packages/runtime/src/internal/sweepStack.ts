/**
 * Ends the stack's processes by the design's rule.
 */
import { Effect } from "effect"
import type { EnvironmentError } from "../EnvironmentError.ts"
import type { Layout } from "../Layout.ts"
import type { SweptProcess } from "../TrialEvent.ts"
import type { EnvironmentService } from "../EnvironmentService.ts"

export const sweepStack = (_: {
  readonly layout: Layout
  readonly pids: ReadonlyMap<string, number>
  readonly mode: "stack" | "all"
}): Effect.Effect<
  { readonly survivors: ReadonlyArray<SweptProcess>; readonly spared: ReadonlyArray<SweptProcess> },
  EnvironmentError,
  EnvironmentService
> => Effect.die("to come")
