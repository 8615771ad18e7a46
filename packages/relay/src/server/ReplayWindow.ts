/**
 * Remembers which HTTP authorisations were used, so that nobody can send one again. Two generations of ids bound the
 * memory without a timer: an id is remembered for at least one window, and the first use of any after three finds it
 * forgotten.
 */
import { HashSet } from "effect"

/** An authorisation is good for 60 s before and after its time, so two minutes cover its whole life. */
export const WINDOW_SECONDS = 120

/** Used ids in two generations. */
export interface ReplayWindow {
  readonly current: HashSet.HashSet<string>
  readonly previous: HashSet.HashSet<string>
  /** When `current` began, in seconds. */
  readonly since: number
}

/** Nothing used yet. */
export const empty: ReplayWindow = { current: HashSet.empty(), previous: HashSet.empty(), since: 0 }

/** The window with this id marked as used, or nothing when it was used before. */
export const use = (window: ReplayWindow, id: string, now: number): ReplayWindow | undefined => {
  const turned = turn(window, now)
  if (HashSet.has(turned.current, id) || HashSet.has(turned.previous, id)) return undefined
  return { ...turned, current: HashSet.add(turned.current, id) }
}

const turn = (window: ReplayWindow, now: number): ReplayWindow => {
  const age = now - window.since
  if (age < WINDOW_SECONDS) return window
  const previous = age < 2 * WINDOW_SECONDS ? window.current : HashSet.empty<string>()
  return { current: HashSet.empty(), previous, since: now }
}
