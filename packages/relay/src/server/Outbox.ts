/**
 * Frames on their way to one connection. Bounded: a reader that does not keep up is found out when its outbox is full,
 * and never holds up anybody else. Plain and mutable, because there is one for every connection, mostly empty.
 */
import { Effect } from "effect"

/** Entries that an outbox holds; the real relay's number. */
export const CAPACITY = 1000

/**
 * UTF-16 units that an outbox holds. The real relay has no such bound; a thousand of its longest messages would be a
 * quarter of a gigabyte.
 */
export const MAX_UNITS = 16_777_216

/** So many times in a row an entry may find no place and is lost; the next time the reader is given up. */
export const TOLERATED_OVERFLOWS = 2

/** What became of an entry. */
export type Pushed = "kept" | "lost" | "given-up"

/** The waiting frames of one connection. */
export class Outbox {
  private entries: Array<ReadonlyArray<string>> = []
  private units = 0
  private overflows = 0
  private onRoom: (() => void) | undefined = undefined

  /** Adds frames as one entry. Never waits. An answer of any length fits into an empty outbox. */
  push(frames: ReadonlyArray<string>): Pushed {
    if (this.entries.length >= CAPACITY || this.units > MAX_UNITS) {
      this.overflows += 1
      return this.overflows > TOLERATED_OVERFLOWS ? "given-up" : "lost"
    }
    this.overflows = 0
    this.entries.push(frames)
    for (const frame of frames) this.units += frame.length
    return "kept"
  }

  /** Takes all of it, in order. */
  take(): ReadonlyArray<string> {
    const { entries } = this
    this.entries = []
    this.units = 0
    this.onRoom?.()
    return entries.length === 1 && entries[0] !== undefined ? entries[0] : entries.flat()
  }

  /**
   * Waits until the outbox is at most half full: a connection that asks faster than it reads is made to wait. One waits
   * at a time, the connection itself.
   */
  get hasRoom(): Effect.Effect<void> {
    if (this.entries.length <= CAPACITY / 2 && this.units <= MAX_UNITS / 2) return Effect.void
    return Effect.callback((resume) => {
      this.onRoom = () => {
        this.onRoom = undefined
        resume(Effect.void)
      }
      return Effect.sync(() => void (this.onRoom = undefined))
    })
  }
}
