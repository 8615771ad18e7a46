/**
 * Holds the relay's state and carries out what the pure modules decide. Every step reads the state, decides, writes
 * it back and hands out all frames in one synchronous block, so that what subscribers see has the order in which it
 * happened.
 */
import { Clock, Deferred, Effect, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import * as Bridge from "./Bridge.ts"
import type { Outgoing } from "./Delivery.ts"
import * as Outbox from "./Outbox.ts"
import * as RelayState from "./RelayState.ts"
import * as Session from "./Session.ts"

/** Why a connection has to end. */
export type EndReason = "shutdown" | "too-slow"

/** One open connection, as the module that owns its socket sees it. */
export interface HubConnection {
  /** Hands in a frame; returns when it has been dealt with. */
  readonly receive: (text: string) => Effect.Effect<void>
  readonly outbox: Outbox.Outbox
  /** Completes when the relay wants the connection gone. */
  readonly mustEnd: Effect.Effect<EndReason>
}

/** The running relay, as routes and sessions use it. */
export interface RelayHub {
  /** Opens a connection; the scope's end is its end. */
  readonly connect: Effect.Effect<HubConnection, never, Scope.Scope>
  readonly answer: (request: Bridge.Request) => Effect.Effect<Bridge.Response>
  /** Asks all connections to end and waits until they have. New ones are asked at once. */
  readonly shutdown: Effect.Effect<void>
}

interface Entry {
  readonly outbox: Outbox.Outbox
  readonly mustEnd: Deferred.Deferred<EndReason>
  readonly ended: Deferred.Deferred<void>
}

/** A relay that nobody uses yet. */
export const make = Effect.fnUntraced(function* (rules: RelayState.RelayRules) {
  const random = yield* SecureRandom.SecureRandom
  const entries = new Map<number, Entry>()
  let state = RelayState.empty
  let nextId = 1
  let isClosing = false

  const handOut = ({ frames, to }: Outgoing): void => {
    const entry = entries.get(to)
    if (entry !== undefined && !entry.outbox.push(frames))
      Deferred.doneUnsafe(entry.mustEnd, Effect.succeed<EndReason>("too-slow"))
  }

  const step = <A>(decide: (now: number) => readonly [RelayState.RelayState, ReadonlyArray<Outgoing>, A]) =>
    Effect.map(Clock.currentTimeMillis, (millis): A => {
      const [next, outgoing, result] = decide(Math.floor(millis / 1000))
      state = next
      outgoing.forEach(handOut)
      return result
    })

  const connect = Effect.gen(function* () {
    const challenge = Hex.encode(yield* random.randomBytes(32))
    const entry: Entry = {
      outbox: yield* Outbox.make,
      mustEnd: yield* Deferred.make<EndReason>(),
      ended: yield* Deferred.make<void>()
    }
    const id = yield* Effect.acquireRelease(
      step(() => {
        const id = nextId++
        entries.set(id, entry)
        if (isClosing) Deferred.doneUnsafe(entry.mustEnd, Effect.succeed<EndReason>("shutdown"))
        return [...Session.open(state, id, challenge), id]
      }),
      (id) =>
        Effect.andThen(
          step(() => {
            entries.delete(id)
            return [Session.close(state, id), [], undefined]
          }),
          Deferred.succeed(entry.ended, undefined)
        )
    )
    return {
      receive: (text: string) => step((now) => [...Session.receive(state, rules, { id, text }, now), undefined]),
      outbox: entry.outbox,
      mustEnd: Deferred.await(entry.mustEnd)
    }
  })

  const answer = (request: Bridge.Request) =>
    step((now) => {
      const answered = Bridge.answer(state, rules, request, now)
      return [answered.state, answered.outgoing, answered.response]
    })

  const shutdown = Effect.suspend(() => {
    isClosing = true
    return Effect.forEach(
      [...entries.values()],
      ({ ended, mustEnd }) => Effect.andThen(Deferred.succeed(mustEnd, "shutdown"), Deferred.await(ended)),
      { concurrency: "unbounded", discard: true }
    )
  })

  return { connect, answer, shutdown } satisfies RelayHub
})
