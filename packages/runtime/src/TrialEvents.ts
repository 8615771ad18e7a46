/**
 * The events of trials as a service: whoever watches a trial subscribes here. Publishing never waits, so that nobody who
 * reads slowly can hold up a trial that costs money.
 */
import { Clock, Context, Effect, Layer, PubSub, Stream } from "effect"
import type { TrialEvent, TrialHappening, TrialNames } from "./TrialEvent.ts"

/**
 * Events kept for each subscriber, and replayed to a new one. A subscriber that falls behind by more loses the oldest;
 * hours of a busy trial fit (a turn makes about ten events).
 */
export const KEPT_EVENTS = 16_384

/** Where a trial says what happens, and where others hear it. */
export class TrialEvents extends Context.Service<
  TrialEvents,
  {
    /** Stamps the happening with the clock and hands it to every subscriber. Never waits, never fails. */
    publish(happening: TrialNames & TrialHappening): Effect.Effect<void>
    /**
     * The events so far, then each new one, of every trial of the layer. Each run of the stream is a subscription of its own; it
     * ends when the layer's scope closes. `eventsOf` gives those of one trial.
     */
    readonly stream: Stream.Stream<TrialEvent>
  }
>()("@buzz-orchestra/runtime/TrialEvents") {
  static readonly layer = Layer.effect(
    TrialEvents,
    Effect.gen(function* () {
      const pubsub = yield* Effect.acquireRelease(
        PubSub.sliding<TrialEvent>({ capacity: KEPT_EVENTS, replay: KEPT_EVENTS }),
        PubSub.shutdown
      )
      return TrialEvents.of({
        publish: (happening) =>
          Clock.clockWith((clock) =>
            Effect.asVoid(PubSub.publish(pubsub, { at: clock.currentTimeMillisUnsafe(), ...happening }))
          ),
        stream: Stream.fromPubSub(pubsub)
      })
    })
  )
}

/** The events of one trial, those so far first; ends with its `TrialEnded`. A trial that was run twice ends it the first time. */
export const eventsOf = ({ runId, trialId }: TrialNames): Stream.Stream<TrialEvent, never, TrialEvents> =>
  Stream.unwrap(TrialEvents.useSync(({ stream }) => stream)).pipe(
    Stream.filter((event) => event.trialId === trialId && event.runId === runId),
    Stream.takeUntil(({ _tag }) => _tag === "TrialEnded")
  )
