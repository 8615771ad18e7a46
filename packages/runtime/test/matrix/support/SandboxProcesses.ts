/**
 * The processes of a sandbox as the kernel of this machine shows them from outside: whoever shares the PID namespace of its
 * first process, whatever it calls itself, whoever its parent is, and whether or not it kept its environment.
 */
import * as fs from "node:fs"

/** A living process. */
export interface SandboxProcess {
  readonly pid: number
  readonly parent: number
  /** Its pid inside. */
  readonly inside: number
  readonly command: string
}

const pids = (): ReadonlyArray<number> =>
  fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

/** Something of a process that may end at any moment. */
const attempt = <A>(look: () => A): A | undefined => {
  try {
    return look()
  } catch {
    return undefined
  }
}

/** The PID namespace of the sandbox whose processes were started with this variable in their environment. */
export const namespaceOf = (variable: string): string | undefined => {
  const own = fs.readlinkSync("/proc/self/ns/pid")
  for (const pid of pids()) {
    const environment = attempt(() => fs.readFileSync(`/proc/${pid}/environ`, "latin1"))
    if (environment === undefined || !environment.split("\0").includes(variable)) continue
    const namespace = attempt(() => fs.readlinkSync(`/proc/${pid}/ns/pid`))
    if (namespace !== undefined && namespace !== own) return namespace
  }
  return undefined
}

/** Every living process of a PID namespace; a zombie is dead. */
export const processesIn = (namespace: string): ReadonlyArray<SandboxProcess> =>
  pids().flatMap((pid) => {
    if (attempt(() => fs.readlinkSync(`/proc/${pid}/ns/pid`)) !== namespace) return []
    const stat = attempt(() => fs.readFileSync(`/proc/${pid}/stat`, "utf8"))
    const status = attempt(() => fs.readFileSync(`/proc/${pid}/status`, "utf8"))
    const [state = "Z", parent = "0"] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? []
    if (state === "Z" || state === "X") return []
    const inside = Number(/^NSpid:.*\t(\d+)$/m.exec(status ?? "")?.[1] ?? 0)
    const command = attempt(() => fs.readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? ""
    return [{ pid, parent: Number(parent), inside, command: command.replaceAll("\0", " ").trim() }]
  })

/** What waits for the end of a time limit. */
const LIMIT = /^sleep \d+\.\d{3}$/

/**
 * What is not the sandbox's own: its first process and the pause of it, and shells that were entered from outside (their
 * parents are outside, too) with what they run. The limit of a command that a test runs while all is swept may lose its parent.
 */
export const tenants = (processes: ReadonlyArray<SandboxProcess>): ReadonlyArray<SandboxProcess> => {
  const byPid = new Map(processes.map((process) => [process.pid, process]))
  const isOwn = (process: SandboxProcess): boolean => {
    const parent = byPid.get(process.parent)
    if (process.inside === 1 || parent === undefined) return true
    if (parent.inside === 1) return process.command === "sleep 2147483647" || LIMIT.test(process.command)
    return isOwn(parent)
  }
  return processes.filter((process) => !isOwn(process))
}
