/**
 * One trial as it was measured.
 */
import { Effect } from "effect"
import { DEFAULT_LAYOUT } from "../packages/runtime/src/Layout.ts"
import { Arrivals } from "./Arrivals.ts"
import { Meter } from "./Meter.ts"

/** Times in milliseconds. */
export interface Measured {
  /** From the harness's start, in an environment that is there, to the moment when it knows that every agent is ready. */
  readonly ready: number
  /** Of that, what the slowest agent took by itself. */
  readonly agents: number
  /** From the relay's acceptance of `DONE:` to the harness's notice. */
  readonly notice: number
  /** From the relay's acceptance of `DONE:` to the harness's end: everything is swept and collected, the channel archived. */
  readonly end: number
  /** Calls of the environment, or requests of its engine. */
  readonly calls: number
  readonly logBytesRead: number
  readonly logBytesWritten: number
}

/** What a harness tells of a trial. Points in time are milliseconds since the epoch. */
export interface Told {
  readonly started: number
  readonly readyAt: number
  readonly noticedAt: number
  readonly endedAt: number
  readonly agents: number
  /** Id of the lead's `DONE:`. */
  readonly doneId: string
}

/** Now, in milliseconds since the epoch, by the clock that arrivals are kept by. */
export const now = (): number => performance.timeOrigin + performance.now()

/** Runs a trial in the environment of the meter, and asks the meter afterwards. */
export const measure = Effect.fnUntraced(function* <E, R>(trial: Effect.Effect<Told, E, R>) {
  const meter = yield* Meter
  const arrivals = yield* Arrivals
  const before = yield* meter.calls
  const { agents, doneId, endedAt, noticedAt, readyAt, started } = yield* trial
  const calls = (yield* meter.calls) - before
  const arrival = arrivals.of(doneId)
  if (arrival === undefined) return yield* Effect.die(new Error("the relay never saw DONE:"))
  const accepted = performance.timeOrigin + arrival
  const written = yield* meter.uncounted.exec(`cat ${DEFAULT_LAYOUT.logs}/*.log | wc -c`)
  const measured: Measured = {
    ready: readyAt - started,
    agents,
    notice: noticedAt - accepted,
    end: endedAt - accepted,
    calls,
    logBytesRead: yield* meter.logBytes,
    logBytesWritten: Number(written.stdout)
  }
  return measured
})
