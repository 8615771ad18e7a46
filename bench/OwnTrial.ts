/**
 * A trial of this repository's harness.
 */
import { Effect, Fiber, Option, Stream } from "effect"
import { Trial } from "../packages/runtime/src/Trial.ts"
import { TrialEvents } from "../packages/runtime/src/TrialEvents.ts"
import type { TrialEvent } from "../packages/runtime/src/TrialEvent.ts"
import type { TrialOptions } from "../packages/runtime/src/TrialOptions.ts"
import { agentsStart } from "./AgentsStart.ts"
import { now, type Told } from "./Measured.ts"

/** Runs it to its end. */
export const ownTrial = Effect.fnUntraced(function* (options: TrialOptions) {
  const trial = yield* Trial
  const { stream } = yield* TrialEvents
  const first = (holds: (event: TrialEvent) => boolean) =>
    Effect.map(Stream.runHead(Stream.filter(stream, holds)), Option.getOrThrow)
  const agents = yield* Effect.forkChild(
    Effect.andThen(
      first(({ _tag }) => _tag === "Waiting"),
      agentsStart
    )
  )
  const started = now()
  const { completion } = yield* trial.run(options)
  const endedAt = now()
  const ready = yield* first((event) => event._tag === "PhaseEnded" && event.phase === "ready")
  const noticed = yield* first(({ _tag }) => _tag === "OutcomeDecided")
  const told: Told = {
    started,
    endedAt,
    readyAt: ready.at,
    noticedAt: noticed.at,
    agents: yield* Fiber.join(agents),
    doneId: completion?.id ?? ""
  }
  return told
})
