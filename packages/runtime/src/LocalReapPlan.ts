/**
 * What of everything on this machine that carries our marks may be ended or removed, and why the rest may not. Pure: who lives
 * is a parameter.
 */
import { fateOf, type LiveHost, type Owner } from "./docker/OwnerLabels.ts"
import type { DirectoryOwner } from "./OwnedDirectory.ts"

/** A process whose environment names an owner. */
export interface OwnedProcess {
  readonly pid: number
  readonly startTime: string
  /** Its arguments, for people. */
  readonly command: string
  /** `invalid`: our variable is there, and what it says is no owner. */
  readonly owner: Owner | "invalid"
}

/** A temporary directory of ours. */
export interface OwnedTemporary {
  readonly path: string
  readonly owner: DirectoryOwner
}

/** Everything that was found. */
export interface LocalLeftovers {
  readonly processes: ReadonlyArray<OwnedProcess>
  readonly directories: ReadonlyArray<OwnedTemporary>
}

/** What is to become of one thing. */
export interface LocalDecision {
  readonly object: ({ readonly kind: "process" } & OwnedProcess) | ({ readonly kind: "directory" } & OwnedTemporary)
  readonly remove: boolean
  /** A sentence's end, such as `its owner, process 4242, is gone`. */
  readonly why: string
}

/** What the decision depends on beside what was found. */
export interface LocalReapRule {
  /** `undefined` where nothing is known of other processes: then nothing is removed. */
  readonly here: LiveHost | undefined
  /** Pids that are never ended: the reaper's own, and whoever started it. */
  readonly spare: ReadonlyArray<number>
}

/** A decision for each, processes first: a directory may be theirs. */
export const planLocalReap = (
  { directories, processes }: LocalLeftovers,
  { here, spare }: LocalReapRule
): ReadonlyArray<LocalDecision> => [
  ...processes.map((process): LocalDecision => {
    const object = { kind: "process", ...process } as const
    if (spare.includes(process.pid)) return { object, remove: false, why: "it runs this command" }
    const { isGone, why } = fateOf(process.owner === "invalid" ? undefined : process.owner, here)
    return { object, remove: isGone, why }
  }),
  ...directories.map((directory): LocalDecision => {
    const { isGone, why } = fateOfDirectory(directory.owner, here)
    return { object: { kind: "directory", ...directory }, remove: isGone, why }
  })
]

/** A name holds no more of an owner than this needs. */
const fateOfDirectory = ({ isOfHost, pid, pidStartTime }: DirectoryOwner, here: LiveHost | undefined) =>
  fateOf(
    {
      run: "",
      trial: "",
      machine: "",
      host: isOfHost ? (here?.host ?? "") : "elsewhere",
      pid,
      pidStartTime,
      created: ""
    },
    here
  )
