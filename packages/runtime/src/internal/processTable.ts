/**
 * The processes that the watch reported, by program name and pid. Pure.
 */
import { isDeadState, type WatchEvent } from "../WatchEvent.ts"

/** One process as last reported. */
export interface Sighting {
  readonly pid: number
  /** Tells a recycled pid from the process launched; `undefined` when it was never seen alive. */
  readonly startTime: string | undefined
  readonly alive: boolean
}

/** By `<name>/<pid>`: a program that is started again under its name is another process. */
export type ProcessTable = ReadonlyMap<string, Sighting>

export const initial: ProcessTable = new Map()

/** After a report; other events leave it as it is. */
export const reported = (table: ProcessTable, event: WatchEvent): ProcessTable => {
  if (event._tag !== "ProcessSeen" && event._tag !== "ProcessDied") return table
  const { name, pid } = event
  const before = find(table, name, pid)
  const sighting: Sighting =
    event._tag === "ProcessSeen"
      ? { pid, startTime: event.startTime, alive: !isDeadState(event.state) }
      : { pid, startTime: before?.startTime, alive: false }
  return new Map([...table, [`${name}/${pid}`, sighting]])
}

/** What is known of one process. */
export const find = (table: ProcessTable, name: string, pid: number): Sighting | undefined =>
  table.get(`${name}/${pid}`)
