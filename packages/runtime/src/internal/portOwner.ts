/**
 * Who listens on a TCP port of an environment, for an error that says whom to end.
 */
import { Effect, FileSystem, Option } from "effect"
import { EnvironmentService } from "../EnvironmentService.ts"
import { listeningSockets, parsePorts, portsScript } from "./sweepScript.ts"

/** Every process's descriptors. */
const LISTING_BYTES = 16 * 1024 * 1024

/** Characters of a command that are shown. */
const SHOWN = 200

/**
 * Such as `process 42 (python3 -m http.server)`; `undefined` when nobody can be made out. A listener whose process lives outside
 * the environment, which shares its network, is looked for on this machine when that is where the environment is.
 */
export const ownerOfPort = Effect.fn("portOwner.ownerOfPort")(
  function* (address: string) {
    const { bridge, exec, facts } = yield* EnvironmentService
    const port = Number(address.slice(address.lastIndexOf(":") + 1))
    const { stdout } = yield* exec(portsScript("all"), { cwd: "/", maxOutputBytes: LISTING_BYTES })
    const [inside] = [...parsePorts(stdout)].flatMap(([pid, ports]) => (ports.includes(port) ? [pid] : []))
    if (inside !== undefined) {
      const { stdout: command } = yield* exec(`cat /proc/${inside}/cmdline`, { cwd: "/" })
      return described(inside, command, "")
    }
    if (facts.kind !== "local" && bridge === undefined) return undefined
    const sockets = new Set([...listeningSockets(stdout)].flatMap(([inode, at]) => (at === port ? [inode] : [])))
    return yield* ownerHere(sockets)
  },
  // It is about an error that has its own words.
  Effect.orElseSucceed(() => undefined)
)

/** Sockets have one number on the whole machine, whatever network they are in. */
const ownerHere = Effect.fnUntraced(function* (inodes: ReadonlySet<string>) {
  const fs = yield* FileSystem.FileSystem
  if (inodes.size === 0) return undefined
  const names = (path: string) => Effect.orElseSucceed(fs.readDirectory(path), (): ReadonlyArray<string> => [])
  for (const pid of yield* names("/proc")) {
    if (!/^[1-9][0-9]*$/.test(pid)) continue
    for (const descriptor of yield* names(`/proc/${pid}/fd`)) {
      const link = yield* Effect.option(fs.readLink(`/proc/${pid}/fd/${descriptor}`))
      const [, inode] = /^socket:\[([0-9]+)\]$/.exec(Option.getOrElse(link, () => "")) ?? []
      if (inode === undefined || !inodes.has(inode)) continue
      const command = yield* Effect.orElseSucceed(fs.readFileString(`/proc/${pid}/cmdline`), () => "")
      return described(Number(pid), command, " of this machine")
    }
  }
  return undefined
})

const described = (pid: number, cmdline: string, where: string): string => {
  const command = cmdline.replaceAll("\0", " ").trim().slice(0, SHOWN)
  return `process ${pid}${where}${command === "" ? "" : ` (${command})`}`
}
