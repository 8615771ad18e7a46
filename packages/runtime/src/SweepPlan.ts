/**
 * Which processes a sweep ends and which it spares: a pure function of a snapshot. The rule: the launched processes, whatever
 * runs from the layout's `bin`, and every process whose parent chain reaches one of these in the snapshot. Never by
 * substring, never PID 1, never the sweep's own shell.
 */
import { isDeadState } from "./WatchEvent.ts"

/** One process of a snapshot. */
export interface ProcessRecord {
  readonly pid: number
  readonly ppid: number
  readonly state: string
  readonly session: number
  /** Field 22 of its stat: a recycled pid has another. */
  readonly startTime: string
  /** Where `/proc/<pid>/exe` leads; `undefined` where that cannot be read. */
  readonly exe: string | undefined
  readonly argv: ReadonlyArray<string>
}

/** All processes of an environment at about one moment: it is read process by process. */
export interface ProcessSnapshot {
  readonly processes: ReadonlyArray<ProcessRecord>
  /** The shell that took the snapshot. */
  readonly shell: number
  /** Who started that shell: 0 where that is somebody outside. */
  readonly entry: number
  /**
   * Pids that carry the environment's mark, where it is not all of the machine that was seen. Only these, what is launched or from
   * `bin`, and what descends from any of them belong to the environment; nothing else is ended or listed.
   */
  readonly marked?: ReadonlySet<number>
  /** The layout's `bin`, and what it is without links. */
  readonly bin: ReadonlyArray<string>
}

/** A process that was launched. Without a start time whoever has the pid now is taken for it. */
export interface SweepRoot {
  readonly pid: number
  readonly startTime: string | undefined
}

/** The rule's parameters. */
export interface SweepPlanOptions {
  readonly roots: ReadonlyArray<SweepRoot>
  /** Also end what is neither launched nor from `bin` nor a descendant, such as a service that the task asked for. */
  readonly all: boolean
  /** Pids left alone whatever the rule says. */
  readonly spare: ReadonlyArray<number>
}

/** The rule's answer. */
export interface SweepPlan {
  /** Parents before their children, so that nobody starts again what has just ended. */
  readonly end: ReadonlyArray<ProcessRecord>
  readonly spared: ReadonlyArray<ProcessRecord>
}

const isAlive = ({ state }: ProcessRecord): boolean => !isDeadState(state)

/** Dead processes are in neither list, and neither is what belongs to the environment itself. */
export const planSweep = (snapshot: ProcessSnapshot, options: SweepPlanOptions): SweepPlan => {
  const alive = within(snapshot, options).filter(isAlive)
  const children = childrenOf(alive)
  // Of all: the mark of a shell of the environment is not seen behind arguments that are too long for ps.
  const isHousekeeping = housekeeping(snapshot.processes.filter(isAlive), snapshot.entry)
  const own = new Set(descendants(children, [snapshot.shell]))
  const mayEnd = ({ pid }: ProcessRecord) => pid !== 1 && !own.has(pid) && !options.spare.includes(pid)
  const isOurs = (process: ProcessRecord) =>
    options.roots.some((root) => isRoot(root, process)) || runsFrom(snapshot.bin, process)
  const heads = alive.filter((process) => mayEnd(process) && isOurs(process)).map(({ pid }) => pid)
  const reached = new Set(descendants(children, heads))
  const ends = (process: ProcessRecord) =>
    mayEnd(process) && (reached.has(process.pid) || (options.all && !isHousekeeping(process)))
  return {
    end: parentsFirst(alive, children).filter(ends),
    spared: alive.filter((process) => !ends(process) && !own.has(process.pid) && !isHousekeeping(process))
  }
}

/**
 * What belongs to the environment, of a snapshot that may show others as well. Everything descends from PID 1, and whoever has the
 * pid of something whose start nobody saw may be a stranger.
 */
const within = (
  { bin, marked, processes, shell }: ProcessSnapshot,
  { roots }: SweepPlanOptions
): ReadonlyArray<ProcessRecord> => {
  if (marked === undefined) return processes
  const isHead = (process: ProcessRecord) =>
    process.pid !== 1 &&
    (process.pid === shell ||
      marked.has(process.pid) ||
      roots.some((root) => root.startTime !== undefined && isRoot(root, process)) ||
      runsFrom(bin, process))
  const heads = processes.filter(isHead).map(({ pid }) => pid)
  const reached = new Set(descendants(childrenOf(processes), heads))
  return processes.filter(({ pid }) => reached.has(pid))
}

/**
 * What the stack started after a snapshot of it was taken: processes that are not in it and are in the session of something
 * that was to be ended. Their parents may have ended since, so that no chain leads from them to the stack any more. What
 * has left the session by then is a service like any other.
 */
export const bornSince = (
  before: ProcessSnapshot,
  now: ProcessSnapshot,
  ended: ReadonlyArray<SweepRoot>
): ReadonlyArray<ProcessRecord> => {
  const isHousekeeping = housekeeping(now.processes, now.entry)
  const sessions = new Set(
    before.processes.filter((one) => ended.some((root) => isRoot(root, one))).map(({ session }) => session)
  )
  const wasThere = new Set(before.processes.map(({ pid, startTime }) => `${pid} ${startTime}`))
  return now.processes.filter(
    (process) =>
      sessions.has(process.session) &&
      !isHousekeeping(process) &&
      !wasThere.has(`${process.pid} ${process.startTime}`) &&
      !isDeadState(process.state)
  )
}

/**
 * What was there before any agent and is no business of the task: PID 1 and its session (an image's own services), and
 * what entered from outside, without a parent inside or with the shell's own, with everything in its session (the harness's shells, and its watch
 * with the subshells and pauses of its rounds). A launched program always has a session of its own.
 */
const housekeeping = (
  processes: ReadonlyArray<ProcessRecord>,
  entry: number
): ((process: ProcessRecord) => boolean) => {
  const isEntrance = ({ pid, ppid }: ProcessRecord) => pid === 1 || ppid === 0 || ppid === entry
  const sessions = new Set(processes.filter(isEntrance).map(({ session }) => session))
  return ({ session }) => sessions.has(session)
}

const isRoot = (root: SweepRoot, process: ProcessRecord): boolean =>
  root.pid === process.pid && (root.startTime === undefined || root.startTime === process.startTime)

/** Whether the executable, or the script it runs, lies in one of the directories. */
export const runsFrom = (directories: ReadonlyArray<string>, process: ProcessRecord): boolean =>
  [process.exe, scriptOf(process)].some(
    (path) => path !== undefined && directories.some((directory) => normalize(path).startsWith(`${directory}/`))
  )

/** Programs that run a file named in their arguments; `tail -f` of one of our programs is none of ours. */
const INTERPRETER =
  /^(sh|bash|dash|ash|ksh|mksh|zsh|node|nodejs|bun|deno|(python|pypy|perl|ruby|php|lua|tclsh)[0-9.]*)$/

/** Options after which an interpreter runs no file. */
const INLINE = /^(-[A-Za-z]*[ce]|--eval|-p|--print|-m)$/

/**
 * The script that an interpreter runs: the first of its arguments that is no option. One given relative to a directory cannot be
 * placed.
 */
export const scriptOf = ({ argv, exe }: Pick<ProcessRecord, "argv" | "exe">): string | undefined => {
  if (!INTERPRETER.test(programOf(exe, argv[0] ?? ""))) return undefined
  for (const argument of argv.slice(1)) {
    if (INLINE.test(argument)) return undefined
    if (!argument.startsWith("-")) return argument.startsWith("/") ? argument : undefined
  }
  return undefined
}

/** All of busybox's programs are one executable; the name a process was called by tells which it is. */
const programOf = (exe: string | undefined, calledBy: string): string => {
  const name = baseName(exe ?? calledBy)
  return name === "busybox" ? baseName(calledBy) : name
}

const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

const normalize = (path: string): string => {
  const parts: Array<string> = []
  for (const part of path.split("/")) {
    if (part === "..") parts.pop()
    else if (part !== "" && part !== ".") parts.push(part)
  }
  return `/${parts.join("/")}`
}

type Children = ReadonlyMap<number, ReadonlyArray<number>>

const childrenOf = (processes: ReadonlyArray<ProcessRecord>): Children => {
  const children = new Map<number, Array<number>>()
  for (const { pid, ppid } of processes) {
    const siblings = children.get(ppid)
    if (siblings === undefined) children.set(ppid, [pid])
    else siblings.push(pid)
  }
  return children
}

/** These and everything below them, parents first. A snapshot is not atomic, so a loop of parents is survived. */
const descendants = (children: Children, roots: ReadonlyArray<number>): ReadonlyArray<number> => {
  const found = new Set(roots)
  for (const pid of found) for (const child of children.get(pid) ?? []) found.add(child)
  return [...found]
}

const parentsFirst = (processes: ReadonlyArray<ProcessRecord>, children: Children): ReadonlyArray<ProcessRecord> => {
  const byPid = new Map(processes.map((process) => [process.pid, process]))
  const tops = processes.filter(({ ppid }) => !byPid.has(ppid)).map(({ pid }) => pid)
  const order = new Set([...descendants(children, tops), ...byPid.keys()])
  return [...order].flatMap((pid) => byPid.get(pid) ?? [])
}
