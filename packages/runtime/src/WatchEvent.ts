/**
 * What the watch reports from inside an environment.
 */

/** State letter of `/proc/<pid>/stat`; `Z` and `X` are dead. */
export type ProcessState = string

/** One thing that the watch saw. The bytes of one file come in order; a `LogBytes` with offset 0 after others begins the file anew. */
export type WatchEvent =
  | {
      /** New bytes of a log, exactly once and in order per file. */
      readonly _tag: "LogBytes"
      /** File name below the watched directory, such as `lead-1.stdout.log`. */
      readonly file: string
      /** Offset of the first byte. */
      readonly offset: number
      readonly bytes: Uint8Array
    }
  | {
      /** A process named by `<name>.pid` was seen for the first time, or again after a change of state or start time. */
      readonly _tag: "ProcessSeen"
      readonly name: string
      readonly pid: number
      readonly state: ProcessState
      /** Field 22 of `/proc/<pid>/stat`, clock ticks after boot: tells a recycled pid from the process launched. */
      readonly startTime: string
    }
  | {
      /** It is gone, a zombie, or its pid belongs to another process now. Terminal for that pid. */
      readonly _tag: "ProcessDied"
      readonly name: string
      readonly pid: number
    }
  | {
      /** One round over all files and processes is complete; what was written before it has been reported. */
      readonly _tag: "RoundCompleted"
      readonly round: number
    }

/** Dead as the design means it: no such process, or a zombie. */
export const isDeadState = (state: ProcessState): boolean => state === "Z" || state === "X" || state === "x"
