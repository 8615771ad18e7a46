/**
 * Looks at this machine for what carries our marks: processes by their environment, temporary directories by their names.
 */
import { Effect, FileSystem, Option, Path } from "effect"
import type { LocalLeftovers, OwnedProcess, OwnedTemporary } from "../LocalReapPlan.ts"
import { HostProcess } from "../docker/HostProcess.ts"
import * as OwnedDirectory from "../OwnedDirectory.ts"
import * as ProcessOwner from "../ProcessOwner.ts"
import { parseProcStat } from "./procStat.ts"
import { psCommands, psStats } from "./psTable.ts"

/** How many processes are looked at at a time. */
const CONCURRENCY = 16

/** Characters of a command that are kept. */
const SHOWN = 200

/** What is not there, or not ours to see, has no names. */
const namesIn = (directory: string) =>
  FileSystem.FileSystem.use((fs) => Effect.orElseSucceed(fs.readDirectory(directory), (): ReadonlyArray<string> => []))

const statOf = (pid: number) =>
  FileSystem.FileSystem.use((fs) => Effect.map(fs.readFileString(`/proc/${pid}/stat`), parseProcStat))

/** A process whose environment can be read and names an owner. One of another user cannot be, and could not be ended. */
const ownedProcess = Effect.fnUntraced(
  function* (pid: number) {
    const fs = yield* FileSystem.FileSystem
    const owner = ProcessOwner.inEnvironment(yield* fs.readFileString(`/proc/${pid}/environ`))
    const stat = owner === undefined ? undefined : yield* statOf(pid)
    if (owner === undefined || stat === undefined) return Option.none<OwnedProcess>()
    const command = (yield* fs.readFileString(`/proc/${pid}/cmdline`)).replaceAll("\0", " ").trim()
    return Option.some<OwnedProcess>({ pid, startTime: stat.startTime, command: command.slice(0, SHOWN), owner })
  },
  // It ended meanwhile, or it is somebody else's.
  Effect.orElseSucceed(() => Option.none<OwnedProcess>())
)

/** Whoever asks tells the name as well, in no environment: such lines name no owner. */
const ownedByPs = Effect.gen(function* () {
  const told = yield* psCommands(`${ProcessOwner.OWNER_VARIABLE}={`)
  const stats = new Map((yield* psStats()).map((stat) => [stat.pid, stat]))
  return told.flatMap(({ command, pid, withEnvironment }): ReadonlyArray<OwnedProcess> => {
    const owner = ProcessOwner.inCommand(withEnvironment)
    const startTime = stats.get(pid)?.startTime
    if (owner === undefined || startTime === undefined) return []
    return [{ pid, startTime, command: command.slice(0, SHOWN), owner }]
  })
})

const ownedProcesses = Effect.gen(function* () {
  const pids = (yield* namesIn("/proc")).filter((name) => /^[1-9][0-9]*$/.test(name)).map(Number)
  if (pids.length === 0) return yield* ownedByPs
  const processes = yield* Effect.forEach(pids, ownedProcess, { concurrency: CONCURRENCY })
  return processes.flatMap(Option.toArray)
})

/** Where the platform puts temporary directories is known by making one. */
const temporaryRoot = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return path.dirname(yield* fs.makeTempDirectoryScoped())
}).pipe(Effect.scoped, Effect.option)

const ownedDirectories = Effect.gen(function* () {
  const path = yield* Path.Path
  const { self } = yield* HostProcess
  const root = Option.getOrUndefined(yield* temporaryRoot)
  if (root === undefined) return []
  return (yield* namesIn(root)).flatMap((name): ReadonlyArray<OwnedTemporary> => {
    const owner = OwnedDirectory.ownerOf(name, self.host)
    return owner === undefined ? [] : [{ path: path.join(root, name), owner }]
  })
})

/** Everything that is there now. */
export const localLeftovers: Effect.Effect<LocalLeftovers, never, FileSystem.FileSystem | HostProcess | Path.Path> =
  Effect.all({ processes: ownedProcesses, directories: ownedDirectories })

/** A process, its parent, and so on up to the first. */
export const ancestorsOf = Effect.fnUntraced(function* (pid: number) {
  const parentOf = yield* parents
  const pids: Array<number> = []
  for (let at = pid; at > 0 && !pids.includes(at);) {
    pids.push(at)
    at = yield* parentOf(at)
  }
  return pids
})

/** 0 where it is not known. */
const parents = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  if (yield* Effect.orElseSucceed(fs.exists("/proc/self/stat"), () => false))
    return (pid: number) =>
      Effect.orElseSucceed(
        Effect.map(statOf(pid), (stat) => stat?.ppid ?? 0),
        () => 0
      )
  const stats = new Map((yield* psStats()).map((stat) => [stat.pid, stat.ppid]))
  return (pid: number) => Effect.succeed(stats.get(pid) ?? 0)
})
