/**
 * Tells a person what happens in a trial while it runs.
 */
import type { TrialEvent, TrialNames } from "@buzz-orchestra/runtime/TrialEvent"
import { eventsOf } from "@buzz-orchestra/runtime/TrialEvents"
import { Console, Effect, Stream } from "effect"

/** Runs `effect`, which runs the trial of these names, and prints the events of it until it has ended. */
export const follow = Effect.fnUntraced(function* <A, E, R>(trial: TrialNames, effect: Effect.Effect<A, E, R>) {
  const printing = Stream.runForEach(eventsOf(trial), (event) =>
    Effect.forEach(lines(event), (line) => Console.log(line), { discard: true })
  )
  const [result] = yield* Effect.all([effect, printing], { concurrency: 2 })
  return result
})

const lines = (event: TrialEvent): ReadonlyArray<string> => {
  switch (event._tag) {
    case "PhaseStarted":
      return [`phase ${event.phase}`]
    case "MessageSeen":
      return event.event.kind === 9 ? [`${event.author}: ${event.event.content}`] : []
    case "OutcomeDecided":
      return [`${event.outcome}: ${event.detail}`]
    default:
      return []
  }
}
