/**
 * Frames on their way to one connection. Bounded: a reader that does not keep up is found out when its outbox is
 * full, and never holds up anybody else.
 */
import { Effect, Latch, Queue } from "effect"

/** The waiting frames of one connection. */
export interface Outbox {
  /** Adds frames as one entry; `false` when there is no place left. Never waits. */
  readonly push: (frames: ReadonlyArray<string>) => boolean
  /** Waits until there is something and takes all of it, in order. */
  readonly take: Effect.Effect<ReadonlyArray<string>>
  /** Waits until the outbox is at most half full: a connection that asks faster than it reads is made to wait. */
  readonly hasRoom: Effect.Effect<void>
}

/** Entries that an outbox holds; the real relay's number. */
export const CAPACITY = 1000

/** An empty outbox; it needs no closing. */
export const make: Effect.Effect<Outbox> = Effect.gen(function* () {
  const queue = yield* Queue.bounded<ReadonlyArray<string>>(CAPACITY)
  const room = yield* Latch.make(true)
  return {
    push: (frames) => {
      const isAdded = Queue.offerUnsafe(queue, frames)
      if (Queue.sizeUnsafe(queue) > CAPACITY / 2) room.closeUnsafe()
      return isAdded
    },
    take: Effect.map(Queue.takeAll(queue), (entries) => {
      room.openUnsafe()
      return entries.flat()
    }),
    hasRoom: room.await
  }
})
