/**
 * Temporary directories of this machine whose names say which process they belong to, so that those of a killed harness can
 * be told from those in use.
 */
import * as Sha256 from "@buzz-orchestra/manifest/Sha256"
import { Effect, FileSystem, type PlatformError, Schedule, type Scope } from "effect"
import { HostProcess, type ProcessIdentity } from "./docker/HostProcess.ts"

/** Whoever still writes there when it is to go is being ended, and gets half a second. */
const REMOVING = Schedule.max([Schedule.spaced("50 millis"), Schedule.recurs(10)])

/**
 * A temporary directory of this process; the scope removes it. What cannot be removed, because a service that a task left running
 * writes there, say, is told as a warning and left to `LocalReaper`: it is no failure of a trial.
 */
export const make: Effect.Effect<string, PlatformError.PlatformError, FileSystem.FileSystem | Scope.Scope> = Effect.gen(
  function* () {
    const fs = yield* FileSystem.FileSystem
    const { self } = yield* HostProcess.pipe(Effect.provide(HostProcess.layer))
    const remove = (path: string) =>
      fs.remove(path, { recursive: true, force: true }).pipe(
        Effect.retry(REMOVING),
        Effect.catch(({ message }) =>
          Effect.logWarning(`${path} is left: ${message}; buzz-orchestra reap removes it once this process is gone`)
        )
      )
    return yield* Effect.acquireRelease(fs.makeTempDirectory({ prefix: prefixOf(self) }), remove)
  }
)

/** Hex digits of a host that stand in a name: enough to tell hosts that share a directory apart. */
const HOST_DIGITS = 16

const digestOf = (host: string): string => Sha256.sha256(host).slice(0, HOST_DIGITS)

/** What the names of a process's directories begin with; the platform adds what makes each unique. */
export const prefixOf = ({ host, pid, pidStartTime }: Pick<ProcessIdentity, "host" | "pid" | "pidStartTime">): string =>
  `buzz-orchestra-${digestOf(host)}-${pid}-${pidStartTime}-`

/** Whose directory has this name. */
export interface DirectoryOwner {
  /** Whether it was a process of the host that was asked about. */
  readonly isOfHost: boolean
  readonly pid: number
  readonly pidStartTime: string
}

/** The owner that a name tells; `undefined` for any other name. */
export const ownerOf = (name: string, host: string): DirectoryOwner | undefined => {
  const [, digest, pid, pidStartTime] = /^buzz-orchestra-([0-9a-f]{16})-([1-9][0-9]*)-([0-9]+)-[^/]+$/.exec(name) ?? []
  return digest === undefined || pid === undefined || pidStartTime === undefined
    ? undefined
    : { isOfHost: digest === digestOf(host), pid: Number(pid), pidStartTime }
}
