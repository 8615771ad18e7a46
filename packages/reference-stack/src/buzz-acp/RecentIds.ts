/**
 * Which events were seen lately: the relay sends some of them again after every reconnect.
 */

/** Ids that are remembered; the oldest make room. */
const CAPACITY = 12_000

export class RecentIds {
  readonly #ids = new Set<string>()

  /** Whether the id is new; from then on it is not. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false
    this.#ids.add(id)
    if (this.#ids.size > CAPACITY) for (const oldest of this.#ids) return this.#forget(oldest)
    return true
  }

  #forget(oldest: string): true {
    this.#ids.delete(oldest)
    return true
  }
}
