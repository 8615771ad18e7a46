/**
 * How the programs of `stack` can behave: each word is one that they know.
 */

/** Manners after which an agent still works. */
export const LIVELY = [
  "ignores-term",
  "double-forks",
  "leaves-its-session",
  "stops",
  "renames",
  "wipes-its-environment",
  "holds-its-output",
  "comes-back",
  "floods",
  "serves"
] as const

/** Manners that end an agent. */
export const DEADLY = ["exits-before-ready", "exits-at-ready", "exits-in-a-turn"] as const

/** A way to behave. */
export type Manner = (typeof LIVELY)[number] | (typeof DEADLY)[number]

/** What the sweep leaves alone of an agent with these manners: services that the task could have asked for. */
export const spared = (manners: ReadonlyArray<Manner>): ReadonlyArray<string> =>
  manners.includes("serves") ? ["sleep 307"] : []
