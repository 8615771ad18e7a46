/**
 * What the relay makes somebody try again belongs to the record of a trial: who reads a long trial must see why it took so long.
 */
import { RetryNotice } from "@buzz-orchestra/relay/RetryNotice"
import { Effect } from "effect"
import type { TrialRecord } from "../TrialRecord.ts"

/** Tells every retry in `effect`, and records them as warnings, each sentence once: a relay that is away for hours says the same all the time. */
export const noteRetries = <A, E, R>(record: TrialRecord, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const told = new Set<string>()
    const notice: RetryNotice = ({ message }) =>
      Effect.suspend(() => {
        const tell = record.publish({ _tag: "Retried", detail: message })
        if (told.has(message)) return tell
        told.add(message)
        return Effect.andThen(tell, record.warn(`tried again: ${message}`))
      })
    return Effect.provideService(effect, RetryNotice, notice)
  })
