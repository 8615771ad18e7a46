/**
 * An environment on this Linux machine, without a container engine: a private sandbox with its own `/opt/buzz`, `/logs`,
 * `/app`, `/tests`, home and processes, the host's programs read-only, and the host's network. `bwrap` builds it where it
 * is installed, else `unshare`. Ended with the layer's scope, and with this process however that ends.
 */
import { Effect, FileSystem, Layer, Path, type PlatformError, Scope } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import { EnvironmentError, EnvironmentNotCreated } from "./EnvironmentError.ts"
import { type EnvironmentFacts, EnvironmentService } from "./EnvironmentService.ts"
import { environmentOver } from "./internal/environmentOver.ts"
import * as ProcessOwner from "./ProcessOwner.ts"
import { openSandbox, type Sandbox, type SandboxBackend, type SandboxOptions } from "./Sandbox.ts"
import {
  CONFIGURATION_FILES,
  planSandbox,
  SANDBOX_HOME,
  type SandboxHost,
  type SandboxMount,
  SYSTEM_DIRECTORIES
} from "./SandboxPlan.ts"

/** What may be chosen about a local sandbox; the default of everything gives one that vanishes without a trace. */
export interface LocalEnvironmentOptions {
  /** Which program builds the sandbox. `auto`, the default: `bwrap` if it is installed and works, else `unshare`. */
  readonly backend?: SandboxBackend | "auto"
  /** Files and folders of the host that are visible inside, such as a Node at `/opt/buzz/bin/node`. */
  readonly mounts?: ReadonlyArray<SandboxMount>
  /** Default: `/app`. */
  readonly workDirectory?: string
  /** Added to the variables of every process; they stand in the environment of every shell, so no secret belongs here. */
  readonly env?: Readonly<Record<string, string>>
  /**
   * A directory of this machine that takes what is written to the work directory, `/logs` and `/tests`, as folders `work`, `logs`
   * and `tests`, and keeps it. Without it everything is in memory and gone at the end.
   */
  readonly keep?: string
  /** For which trial it is. Stands, with this process, in the environment of its first process, where `LocalReaper` finds it. */
  readonly owner?: { readonly runId: string; readonly trialId: string }
}

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

type Needs = ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem | Path.Path

/** The layer's scope owns the sandbox. Fails with `EnvironmentNotCreated` where it cannot be had, saying what is missing. */
export const layer = (
  options: LocalEnvironmentOptions = {}
): Layer.Layer<EnvironmentService, EnvironmentError, Needs> => Layer.effect(EnvironmentService, make(options))

const make = Effect.fnUntraced(function* (
  options: LocalEnvironmentOptions
): Effect.fn.Return<EnvironmentService["Service"], EnvironmentError, Needs | Scope.Scope> {
  const workDirectory = options.workDirectory ?? "/app"
  const host = yield* lookAtHost
  const kept = options.keep === undefined ? [] : yield* keptMounts(options.keep, workDirectory)
  const mounts = yield* Effect.forEach([...kept, ...(options.mounts ?? [])], checkMount)
  const plan = planSandbox(host, { workDirectory, mounts })
  const env = { PATH, HOME: SANDBOX_HOME, LANG: "C.UTF-8", ...options.env }
  // Closed after the sandbox has ended: whoever entered it from outside must be alive to reap what it started there.
  const visitors = yield* Scope.make()
  yield* Effect.addFinalizer((exit) => Scope.close(visitors, exit))
  const owner = yield* ProcessOwner.current(options.owner ?? { runId: "", trialId: "" })
  const sandbox = yield* openFirst(options.backend ?? "auto", { plan, env, marks: ProcessOwner.toVariable(owner) })
  const environment = environmentOver(sandbox, (run) =>
    Effect.map(run("uname -m"), (architecture): EnvironmentFacts => ({
      kind: "local",
      name: sandbox.name,
      workDirectory,
      logsDirectory: "/logs",
      testsDirectory: "/tests",
      homeDirectory: SANDBOX_HOME,
      architecture,
      created: true,
      limitations: limitations(host, options)
    }))
  )
  return yield* Scope.provide(environment, visitors)
})

const limitations = (host: SandboxHost, options: LocalEnvironmentOptions): ReadonlyArray<string> => [
  "It shares the host's network: its ports and abstract sockets are the host's.",
  "Programs and libraries are the host's, read-only: no package can be installed.",
  "Memory, processor time and the number of processes are not limited.",
  "It is no security boundary against a program that attacks the kernel.",
  ...(options.keep === undefined ? ["Its files are in memory and count as memory."] : []),
  ...(host.privileged ? [] : ["It has one user, root, which is this machine's user who started it."])
]

/** Tries what is asked for; with `auto`, the second only when the first cannot be had. */
const openFirst = (
  backend: SandboxBackend | "auto",
  options: Omit<SandboxOptions, "backend">
): Effect.Effect<
  Sandbox,
  EnvironmentError,
  ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem | Scope.Scope
> => {
  const open = (backend: SandboxBackend) => openSandbox({ ...options, backend })
  if (backend !== "auto") return Effect.mapError(open(backend), (error) => explain([error]))
  return open("bwrap").pipe(
    Effect.catch((first) => Effect.mapError(open("unshare"), (second) => explain([first, second])))
  )
}

const REMEDY =
  "Install bubblewrap and util-linux (Debian, Ubuntu: apt-get install bubblewrap util-linux). " +
  "Without root, user namespaces must be allowed: sysctl user.max_user_namespaces > 0, and on Ubuntu " +
  "kernel.apparmor_restrict_unprivileged_userns = 0. In a container they need --privileged. Or use a container environment. " +
  "A plain environment needs none of this, and protects nothing."

const explain = (errors: ReadonlyArray<EnvironmentError>): EnvironmentError => {
  const [last] = errors.slice(-1)
  const detail = errors
    .map(({ reason }) => ("environment" in reason ? `${reason.environment}: ${reason.detail}` : ""))
    .join("; ")
  return notCreated(`${detail}. ${REMEDY}`, last)
}

const notCreated = (detail: string, cause?: unknown) =>
  new EnvironmentError({
    operation: "LocalEnvironment.layer",
    reason: new EnvironmentNotCreated({
      environment: "local sandbox",
      detail,
      ...(cause === undefined ? {} : { cause })
    })
  })

/** Makes the folders that are kept. */
const keptMounts = Effect.fnUntraced(function* (keep: string, workDirectory: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const mounts: ReadonlyArray<SandboxMount> = [
    { source: path.resolve(keep, "work"), target: workDirectory, readOnly: false },
    { source: path.resolve(keep, "logs"), target: "/logs", readOnly: false },
    { source: path.resolve(keep, "tests"), target: "/tests", readOnly: false }
  ]
  for (const { source } of mounts) {
    yield* Effect.mapError(fs.makeDirectory(source, { recursive: true }), (cause) => notCreated(cause.message, cause))
  }
  return mounts
})

const checkMount = Effect.fnUntraced(function* (mount: SandboxMount) {
  const fs = yield* FileSystem.FileSystem
  const { target } = mount
  if (!target.startsWith("/") || target === "/") return yield* notCreated(`${target} is no absolute path to mount at`)
  const refused = (cause: PlatformError.PlatformError) =>
    notCreated(`cannot mount ${mount.source}: ${cause.message}`, cause)
  const source = yield* Effect.mapError(fs.realPath(mount.source), refused)
  const { type } = yield* Effect.mapError(fs.stat(source), refused)
  return { ...mount, source, isFile: type !== "Directory" }
})

/** CAP_SYS_ADMIN: with it no user namespace is needed to mount. */
const SYS_ADMIN = 1n << 21n

const lookAtHost: Effect.Effect<SandboxHost, EnvironmentError, FileSystem.FileSystem | Path.Path> = Effect.gen(
  function* () {
    const fs = yield* FileSystem.FileSystem
    const read = (path: string) => Effect.orElseSucceed(fs.readFileString(path), () => "")
    if ((yield* read("/proc/sys/kernel/ostype")).trim() !== "Linux") {
      return yield* notCreated(
        "a local sandbox needs Linux. Use a container environment on this machine, or a plain one, which protects nothing"
      )
    }
    const [, effective] = /^CapEff:\s*([0-9a-f]+)$/m.exec(yield* read("/proc/self/status")) ?? []
    const system: Array<SandboxHost["system"][number]> = []
    for (const path of SYSTEM_DIRECTORIES) {
      const linksTo = yield* Effect.orElseSucceed(fs.readLink(path), () => undefined)
      if (linksTo !== undefined || (yield* Effect.orElseSucceed(fs.exists(path), () => false))) {
        system.push({ path, linksTo })
      }
    }
    const configuration = yield* Effect.forEach(CONFIGURATION_FILES, configurationFile)
    return {
      system,
      configuration: configuration.filter((file) => file !== undefined),
      privileged: effective !== undefined && (BigInt(`0x${effective}`) & SYS_ADMIN) !== 0n
    }
  }
)

/** A file in `/etc` that is a link to somewhere the sandbox does not have: where it must appear, and what it is. */
const configurationFile = Effect.fnUntraced(
  function* (file: string) {
    const fs = yield* FileSystem.FileSystem
    const path = (yield* Path.Path).resolve("/etc", yield* fs.readLink(file))
    const isShared = SYSTEM_DIRECTORIES.some((directory) => path.startsWith(`${directory}/`))
    return isShared ? undefined : { path, source: yield* fs.realPath(file) }
  },
  // No link, or one that leads nowhere on the host either.
  Effect.orElseSucceed(() => undefined)
)
