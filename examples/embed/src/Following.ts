/**
 * Tells a person what happens in a trial while it runs.
 */
import type { TrialEvent } from "@buzz-orchestra/runtime/TrialEvent"
import { TrialEvents } from "@buzz-orchestra/runtime/TrialEvents"
import { Console, Effect, Stream } from "effect"

/** Runs `effect` and prints the events of its trial until the trial has ended. */
export const follow = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const { stream } = yield* TrialEvents
  const printing = stream.pipe(
    Stream.takeUntil(({ _tag }) => _tag === "TrialEnded"),
    Stream.runForEach((event) => Effect.forEach(lines(event), (line) => Console.log(line), { discard: true }))
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
