/**
 * A line of `/proc/<pid>/stat`. Pure.
 */

export interface ProcStat {
  readonly pid: number
  /** One letter; `Z` and `X` are dead. */
  readonly state: string
  readonly ppid: number
  readonly group: number
  readonly session: number
  /** Field 22, clock ticks after boot: tells a recycled pid from the process seen before. */
  readonly startTime: string
}

/** Of all lines of several processes. A name may contain line breaks: what is incomplete goes on in the next line. */
export const parseProcStats = (text: string): ReadonlyArray<ProcStat> => {
  const found: Array<ProcStat> = []
  let begun = ""
  for (const line of text.split("\n")) {
    const record = `${begun}${line}`
    const stat = parseProcStat(record)
    if (stat !== undefined) found.push(stat)
    begun = stat === undefined && /^[0-9]+ \(/.test(record) ? `${record}\n` : ""
  }
  return found
}

/** The name in parentheses may contain anything, parentheses too, so fields are counted from the last one. */
export const parseProcStat = (line: string): ProcStat | undefined => {
  const [pid, rest] = [line.slice(0, line.indexOf(" ")), line.slice(line.lastIndexOf(")") + 2).split(" ")]
  const [state, ppid, group, session] = rest
  const startTime = rest[19]
  if (!/^[0-9]+$/.test(pid) || state === undefined || startTime === undefined) return undefined
  return { pid: Number(pid), state, ppid: Number(ppid), group: Number(group), session: Number(session), startTime }
}
