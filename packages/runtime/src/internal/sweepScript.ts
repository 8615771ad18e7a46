/**
 * What a sweep runs inside an environment, and how its answers are read. POSIX text; every process is named by pid and start
 * time, so that a recycled pid is never hit.
 */
import { printfMarker, type Marker } from "./markedFrames.ts"
import { HAS_PROC, PS_STATS, STAT_OF } from "./processText.ts"
import { parseProcStats } from "./procStat.ts"
import { quote } from "./shellText.ts"
import type { ProcessRecord, ProcessSnapshot } from "../SweepPlan.ts"

/** The words by which each user is become whose processes are of interest. */
export type Becoming = ReadonlyArray<ReadonlyArray<string>>

/** A command as whoever runs the script, then as each of these users. */
const eachUser = (becoming: Becoming, variables: string, command: string): string =>
  [[], ...becoming].map((words) => [variables, ...words.map(quote), command].join(" ")).join("\n")

/**
 * The shell's pid and its parent's, the real path of `bin`, all stats, all executables, the pids that have `variable` in their
 * environment where that is asked for, then each process's arguments as they are. What a process can choose itself, its arguments,
 * comes last and between markers that it cannot know. Without `/proc` a path is told from the next one by a space.
 * Even root may see the executables of others' processes only by becoming them, where it may not trace.
 */
export const snapshotScript = (
  marker: Marker,
  bin: string,
  variable?: string,
  becoming: Becoming = []
): string => `m='${printfMarker(marker)}'
printf "\${m}shell\\n%s %s\\n" $$ $PPID
printf "\${m}bin\\n"
( cd -P -- ${quote(bin)} 2>/dev/null && pwd -P )
if ${HAS_PROC}; then
printf "\${m}stat\\n"
cat /proc/[0-9]*/stat 2>/dev/null
printf "\${m}exe\\n"
${eachUser(becoming, "LC_ALL=C", "ls -ln /proc/[0-9]*/exe 2>/dev/null")}
${variable === undefined ? "" : markedScript(variable, "LC_ALL=C grep -laF -e $v /proc/[0-9]*/environ 2>/dev/null")}
set -- ${variable === undefined ? "/proc/[0-9]*" : ownOf(bin)}
# One fork for all of them where grep can print what ends in NUL; one for each where it is busybox's.
if [ "$(LC_ALL=C grep -zaHc '' /proc/$$/cmdline 2>/dev/null)" ]; then
  printf "\${m}arguments\\n"
  LC_ALL=C grep -zaH '' $(printf '%s/cmdline ' "$@") 2>/dev/null </dev/null
else
  for p; do
    printf "\${m}%s\\n" "\${p#/proc/}"
    cat "$p/cmdline" 2>/dev/null
  done
fi
else
${PS_STATS}
printf "\${m}stat\\n"
( ps_stats )
printf "\${m}exe\\n"
ps -A -o pid= -o comm= | while read -r pid path; do echo "lps 1 /proc/$pid/exe -> $path"; done
${variable === undefined ? "" : markedScript(variable, "ps axeww -o pid= -o command= 2>/dev/null | LC_ALL=C grep -aF -e $v")}
set -f
ps -A -ww -o pid= -o args= | while read -r pid args; do
  printf "\${m}%s\\n" "$pid"
  [ -z "$args" ] || printf '%s\\0' $args
done
fi
:`

/** Of a machine that others use, only what may be the environment's: each costs a fork. */
const ownOf = (bin: string): string =>
  `$(LC_ALL=C grep -laF -e "$v" -e ${quote(`${bin}/`)} /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | sed 's,/[a-z]*$,,')`

/** The pids, one a line. */
const markedScript = (variable: string, find: string): string =>
  `v=${quote(variable)}
printf "\${m}marked\\n"
${find.replace("$v", '"$v"')} | sed 's,^/proc/,,; s,^ *\\([0-9]*\\).*,\\1,'`

/**
 * Reads what `snapshotScript` printed. A process that ended meanwhile is left out. Where `variable` was asked for and nothing was
 * answered, nothing has it: a machine that others use must never pass for one of our own.
 */
export const parseSnapshot = (marker: Marker, bin: string, output: string, variable?: string): ProcessSnapshot => {
  const sections = new Map<string, string>()
  for (const section of output.split(marker.text).slice(1)) {
    const end = section.indexOf("\n")
    sections.set(section.slice(0, end), section.slice(end + 1))
  }
  const executables = parseExecutables(sections.get("exe") ?? "")
  const together = parseArguments(sections.get("arguments") ?? "")
  const processes = parseProcStats(sections.get("stat") ?? "").map((stat): ProcessRecord => {
    const { pid, ppid, session, startTime, state } = stat
    const argv = together.get(pid) ?? (sections.get(String(pid)) ?? "").replace(/\0$/, "").split("\0")
    return { pid, ppid, state, session, startTime, exe: executables.get(pid), argv: argv[0] === "" ? [] : argv }
  })
  const [shell = 0, entry = 0] = (sections.get("shell") ?? "").trim().split(" ").map(Number)
  const marked = (sections.get("marked") ?? "").split("\n").map(Number)
  const real = sections.get("bin")?.trim() ?? ""
  return {
    processes,
    shell,
    entry,
    ...(variable === undefined ? {} : { marked: new Set(marked.filter((pid) => pid > 0)) }),
    bin: real === "" || real === bin ? [bin] : [bin, real]
  }
}

/** `<file>:<argument>` for each, with NUL after it, which no argument can hold: none passes for another process's. */
const parseArguments = (records: string): ReadonlyMap<number, ReadonlyArray<string>> => {
  const byPid = new Map<number, Array<string>>()
  for (const record of records.split("\0")) {
    const [, pid, argument] = /^\/proc\/([0-9]+)\/cmdline:([^]*)$/.exec(record) ?? []
    if (pid === undefined || argument === undefined) continue
    const known = byPid.get(Number(pid))
    if (known === undefined) byPid.set(Number(pid), [argument])
    else known.push(argument)
  }
  return byPid
}

/** A path with a line break could pass for another process's line: a pid of which two things are said has no executable. */
const parseExecutables = (listing: string): ReadonlyMap<number, string | undefined> => {
  const executables = new Map<number, string | undefined>()
  for (const line of listing.split("\n")) {
    const [, id, path] = /^l[^ ]+ +[0-9]+ [^>]* \/proc\/([0-9]+)\/exe -> (.*)$/.exec(line) ?? []
    if (id === undefined || path === undefined) continue
    const [pid, executable] = [Number(id), path.replace(/ \(deleted\)$/, "")]
    executables.set(pid, executables.has(pid) && executables.get(pid) !== executable ? undefined : executable)
  }
  return executables
}

export interface ProcessIdentity {
  readonly pid: number
  readonly startTime: string
}

const identities = (processes: ReadonlyArray<ProcessIdentity>): string =>
  processes.map(({ pid, startTime }) => `${pid}:${startTime}`).join(" ")

/** Seconds between two looks at what is still there. */
const LOOK_SECONDS = 0.02

const ALIVE = `${STAT_OF}
alive() {
  born=\${1#*:}
  stat_of \${1%:*} || return 1
  set -- \${stat##*) }
  case $1 in Z | X | x) return 1 ;; T | t) stopped=1 ;; *) stopped= ;; esac
  shift 19
  [ "$1" = "$born" ]
}`

/**
 * Sends the signal to each, then waits until all are gone, at most \`looks\` times. A stopped process is continued, so that it gets
 * to its TERM. Prints the pids of what is still there. Signal 0 only waits.
 */
export const signalScript = (
  signal: "TERM" | "KILL" | "0",
  processes: ReadonlyArray<ProcessIdentity>,
  limitMillis: number
): string => `${ALIVE}
left='${identities(processes)}'
for each in $left; do
  alive $each || continue
  kill -${signal} \${each%:*} 2>/dev/null
  [ -n "$stopped" ] && [ ${signal} = TERM ] && kill -CONT \${each%:*} 2>/dev/null
done
looks=0
while :; do
  still=
  for each in $left; do alive $each && still="$still $each"; done
  left=$still looks=$((looks + 1))
  [ -n "$left" ] && [ $looks -lt ${Math.max(1, Math.ceil(limitMillis / (LOOK_SECONDS * 1000)))} ] || break
  sleep ${LOOK_SECONDS} 2>/dev/null || { sleep 1; looks=$((looks + ${1 / LOOK_SECONDS})); }
done
for each in $left; do echo "\${each%:*}"; done
:`

/** The kernel's listening sockets, then the descriptors of each process, or of all that there are. */
export const portsScript = (
  pids: ReadonlyArray<number> | "all",
  becoming: Becoming = []
): string => `cat /proc/net/tcp /proc/net/tcp6 2>/dev/null
for p in ${pids === "all" ? "/proc/[0-9]*" : pids.join(" ")}; do
  p=\${p#/proc/}
  echo "pid $p"
  ${eachUser(becoming, "LC_ALL=C", "ls -ln /proc/$p/fd 2>/dev/null")}
done
:`

/** TCP_LISTEN of the kernel's `tcp_states.h`, as `/proc/net/tcp` writes it. */
const LISTENING = "0A"

/** Port by inode of each listening socket. Format of `/proc/net/tcp`: local address, remote address, state, …, inode as the tenth field. */
export const listeningSockets = (output: string): ReadonlyMap<string, number> => {
  const byInode = new Map<string, number>()
  for (const line of output.split("\n")) {
    if (line.startsWith("pid ")) break
    const [, local, , state, , , , , , inode] = line.trim().split(/ +/)
    if (state === LISTENING && inode !== undefined && local !== undefined)
      byInode.set(inode, Number.parseInt(local.slice(local.lastIndexOf(":") + 1), 16))
  }
  return byInode
}

/** Ports by pid, ascending. */
export const parsePorts = (output: string): ReadonlyMap<number, ReadonlyArray<number>> => {
  const byInode = listeningSockets(output)
  const byPid = new Map<number, Set<number>>()
  let pid: number | undefined
  for (const line of output.split("\n")) {
    if (line.startsWith("pid ")) pid = Number(line.slice(4))
    else if (pid !== undefined) {
      const [, inode] = / -> socket:\[([0-9]+)\]$/.exec(line) ?? []
      const port = inode === undefined ? undefined : byInode.get(inode)
      if (port !== undefined) byPid.set(pid, (byPid.get(pid) ?? new Set<number>()).add(port))
    }
  }
  return new Map([...byPid].map(([key, ports]) => [key, [...ports].toSorted((a, b) => a - b)]))
}
