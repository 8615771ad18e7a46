/**
 * What goes out: one outbox for every connection, and one fiber that empties them all. A connection costs no fiber of its
 * own for writing, and one that does not take its bytes is passed over until it does, or given up.
 */
import { Array, Effect, Latch, type Scope } from "effect"
import type { Outgoing } from "./Delivery.ts"
import { Outbox } from "./Outbox.ts"

/** The way out to one client, as the module that owns its socket offers it. */
export interface Transport {
  /** Hands frames to the socket. A broken one is not news here; whoever reads from it finds out. */
  write(frames: Array.NonEmptyReadonlyArray<string>): Effect.Effect<void>
  /** Bytes that the socket holds because the client does not take them. */
  unsentBytes(): number
  /** Bytes that came in, ever; nothing where that cannot be known. */
  receivedBytes(): number | undefined
  ping(): void
  /** Ends the connection, without a word where that is possible. */
  readonly cut: Effect.Effect<void>
  /** Tells the client that the relay goes away; it is expected to hang up. */
  readonly farewell: Effect.Effect<void>
}

/** Unsent bytes of one connection before nothing more is written to it and its outbox begins to fill. */
export const MAX_UNSENT_BYTES = 1_048_576

/** How often a connection that does not take its bytes is looked at again. */
const SLOW_READER_INTERVAL = "20 millis"

/** The real relay's: a ping at once, then every thirty seconds; three in a row without an answer end the connection. */
const PING_INTERVAL = "30 seconds"
const TOLERATED_SILENCES = 2

/** What clients are given to answer the relay's farewell. */
const FAREWELL_TIMEOUT = "200 millis"

/** The connections that something can be sent to. */
export interface Dispatch {
  /** Open connections. */
  readonly size: () => number
  /** Opens the way to a connection of this number; the scope's end is its end. */
  readonly open: (id: number, transport: Transport) => Effect.Effect<Outbox, never, Scope.Scope>
  /** Puts frames into the outbox they are for. What is for nobody is dropped. */
  readonly send: (outgoing: Outgoing) => void
  /** Says farewell to all, and ends those that do not hang up. */
  readonly endAll: Effect.Effect<void>
}

/** One open connection. */
interface Line {
  readonly outbox: Outbox
  readonly transport: Transport
  isGivenUp: boolean
  /** Whether it will be looked at again because it does not take its bytes. */
  isWaitedFor: boolean
  /** What had come in at the last ping, and how many passed since without anything. */
  heard: number | undefined
  silences: number
}

/** Nobody yet. The scope owns the fibers that write and ping. */
export const make: Effect.Effect<Dispatch, never, Scope.Scope> = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const lines = new Map<number, Line>()
  const pending = new Set<Line>()
  const hasPending = yield* Latch.make(false)
  const isEmpty = yield* Latch.make(true)

  const mark = (line: Line): void => {
    pending.add(line)
    hasPending.openUnsafe()
  }

  const lookAgain = (line: Line): Effect.Effect<void> => {
    if (line.isWaitedFor) return Effect.void
    line.isWaitedFor = true
    const look = Effect.sync(() => {
      line.isWaitedFor = false
      mark(line)
    })
    return Effect.sleep(SLOW_READER_INTERVAL).pipe(Effect.andThen(look), Effect.forkIn(scope), Effect.asVoid)
  }

  const flush = (line: Line): Effect.Effect<void> => {
    if (line.isGivenUp) return line.transport.cut
    if (line.transport.unsentBytes() > MAX_UNSENT_BYTES) return lookAgain(line)
    const frames = line.outbox.take()
    return Array.isReadonlyArrayNonEmpty(frames) ? line.transport.write(frames) : Effect.void
  }

  const flushAll = Effect.gen(function* () {
    yield* hasPending.await
    hasPending.closeUnsafe()
    const batch = [...pending]
    pending.clear()
    for (const line of batch) yield* flush(line)
  })

  const pingAll = Effect.sync(() => {
    for (const line of lines.values()) {
      const received = line.transport.receivedBytes()
      line.silences = received === undefined || received !== line.heard ? 0 : line.silences + 1
      line.heard = received
      if (line.silences > TOLERATED_SILENCES) {
        line.isGivenUp = true
        mark(line)
      } else line.transport.ping()
    }
  })

  yield* Effect.forkScoped(Effect.forever(flushAll))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(PING_INTERVAL), pingAll)))

  return {
    size: () => lines.size,
    open: (id, transport) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const heard = transport.receivedBytes()
          const line: Line = {
            outbox: new Outbox(),
            transport,
            isGivenUp: false,
            isWaitedFor: false,
            heard,
            silences: 0
          }
          lines.set(id, line)
          isEmpty.closeUnsafe()
          transport.ping()
          return line.outbox
        }),
        () =>
          Effect.sync(() => {
            lines.delete(id)
            if (lines.size === 0) isEmpty.openUnsafe()
          })
      ),
    send: ({ frames, to }) => {
      const line = lines.get(to)
      if (line === undefined) return
      if (line.outbox.push(frames) === "given-up") line.isGivenUp = true
      mark(line)
    },
    endAll: Effect.gen(function* () {
      yield* Effect.forEach([...lines.values()], ({ transport }) => transport.farewell, { discard: true })
      yield* Effect.timeoutOption(isEmpty.await, FAREWELL_TIMEOUT)
      yield* Effect.forEach([...lines.values()], ({ transport }) => transport.cut, { discard: true })
      yield* Effect.timeoutOption(isEmpty.await, FAREWELL_TIMEOUT)
    })
  } satisfies Dispatch
})
