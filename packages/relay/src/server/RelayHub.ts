/**
 * Holds the relay's state and carries out what the pure modules decide. Every step reads the state, decides, saves what must
 * outlive the relay, and hands out all frames in one synchronous block, so that what subscribers see has the order in which it
 * happened, and nobody is told of what could be lost.
 */
import { Clock, Effect, Result, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import * as Bridge from "./Bridge.ts"
import type { Outgoing } from "./Delivery.ts"
import * as Dispatch from "./Dispatch.ts"
import type { RelayRules, RelayState } from "./RelayState.ts"
import type { RelayStore, RelayStoreError } from "./RelayStore.ts"
import * as Session from "./Session.ts"

/** One open connection, as the module that owns its socket sees it. */
export interface HubConnection {
  /** Hands in a frame; returns when it has been dealt with, and the client has read enough of what it asked for. */
  readonly receive: (text: string) => Effect.Effect<void>
}

/** The running relay, as routes and sessions use it. */
export interface RelayHub {
  readonly rules: RelayRules
  /** Takes a place for a connection, until the scope ends; `false` when there is none. */
  readonly admit: Effect.Effect<boolean, never, Scope.Scope>
  /** Opens a connection; the scope's end is its end. `urls` as `Hosts.urlsFor` has them. */
  readonly connect: (
    transport: Dispatch.Transport,
    urls: ReadonlyArray<string>
  ) => Effect.Effect<HubConnection, never, Scope.Scope>
  readonly answer: (request: Bridge.Request) => Effect.Effect<Bridge.Response>
  /** Whether it is going away. */
  readonly isClosing: () => boolean
  /** Takes no new connections, and waits until those that are there have ended, which it sees to. */
  readonly shutdown: Effect.Effect<void>
}

/** A relay with this state, which saves into this store. The scope owns what it does by itself. */
export const make = Effect.fnUntraced(function* (
  initial: RelayState,
  {
    maxConnections,
    rules,
    store
  }: {
    readonly rules: RelayRules
    readonly store: RelayStore["Service"]
    /** Connections at a time. */
    readonly maxConnections: number
  }
) {
  const random = yield* SecureRandom.SecureRandom
  const dispatch = yield* Dispatch.make
  let state = initial
  let nextId = 1
  let places = maxConnections
  let isClosing = false

  /** Takes over a new state, once what is new in it has been saved. */
  const adopt = (next: RelayState): Result.Result<void, RelayStoreError> => {
    if (next.unsaved.length === 0) {
      state = next
      return Result.void
    }
    return Result.map(store.commit(next.unsaved), () => {
      state = { ...next, unsaved: [] }
    })
  }

  /** `instead` is what is done where the new state cannot be saved and the old one stays. */
  const step = <A>(
    decide: (now: number) => readonly [RelayState, ReadonlyArray<Outgoing>, A],
    instead: (decided: A) => readonly [ReadonlyArray<Outgoing>, A]
  ) =>
    Effect.flatMap(Clock.currentTimeMillis, (millis) => {
      const [next, outgoing, result] = decide(Math.floor(millis / 1000))
      const adopted = adopt(next)
      if (Result.isSuccess(adopted)) {
        outgoing.forEach(dispatch.send)
        return Effect.succeed(result)
      }
      const [other, otherResult] = instead(result)
      other.forEach(dispatch.send)
      return Effect.as(Effect.logError(adopted.failure.message), otherResult)
    })

  const sessionStep = (decide: (now: number) => Session.Step) =>
    step<ReadonlyArray<Outgoing>>(
      (now) => {
        const [next, outgoing, instead = []] = decide(now)
        return [next, outgoing, instead]
      },
      (instead) => [instead, []]
    )

  const connect = Effect.fnUntraced(function* (transport: Dispatch.Transport, urls: ReadonlyArray<string>) {
    const challenge = Hex.encode(yield* random.randomBytes(32))
    const id = nextId++
    const outbox = yield* dispatch.open(id, transport)
    yield* Effect.acquireRelease(
      sessionStep(() => Session.open(state, id, { challenge, urls })),
      () => sessionStep(() => [Session.close(state, id), []])
    )
    return {
      receive: (text: string) =>
        isClosing
          ? Effect.void
          : Effect.flatMap(
              sessionStep((now) => Session.receive(state, rules, { id, text }, now)),
              () => outbox.hasRoom
            )
    } satisfies HubConnection
  })

  return {
    rules,
    connect,
    admit: Effect.suspend(() =>
      isClosing || places === 0
        ? Effect.succeed(false)
        : Effect.as(
            Effect.acquireRelease(
              Effect.sync(() => places--),
              () => Effect.sync(() => places++)
            ),
            true
          )
    ),
    answer: (request) =>
      step<Bridge.Response>(
        (now) => {
          const answered = Bridge.answer(state, rules, request, now)
          return [answered.state, answered.outgoing, answered.response]
        },
        () => [[], Bridge.INTERNAL_ERROR]
      ),
    isClosing: () => isClosing,
    shutdown: Effect.suspend(() => {
      isClosing = true
      return dispatch.endAll
    })
  } satisfies RelayHub
})
