/**
 * An environment that is no more than a private directory of this machine: for systems without Linux's namespaces, such as macOS,
 * and for users who may not have them. Nothing stands between the agents and the machine; what it cannot promise stands in its
 * facts. Never chosen by itself. Needs `sh` and `ps`.
 *
 * What belongs to it is told by a mark in the environment of every process, by what runs from the layout's `bin`, and by descent.
 */
import { Effect, FileSystem, Layer, Path, type PlatformError, type Scope } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import type { OpenProcess } from "./ByteDuplex.ts"
import { HostProcess } from "./docker/HostProcess.ts"
import { CommandNotRun, EnvironmentError, EnvironmentNotCreated } from "./EnvironmentError.ts"
import { type EnvironmentFacts, EnvironmentService } from "./EnvironmentService.ts"
import { spawnDuplex } from "./internal/childDuplex.ts"
import { endMarked } from "./internal/endMarked.ts"
import { environmentOver } from "./internal/environmentOver.ts"
import { HAS_PROC } from "./internal/processText.ts"
import { layoutAt } from "./Layout.ts"
import * as OwnedDirectory from "./OwnedDirectory.ts"
import * as ProcessOwner from "./ProcessOwner.ts"

/** What may be chosen about a plain environment; the default of everything gives one that leaves no file behind. */
export interface PlainEnvironmentOptions {
  /** Programs of this machine by the name they get in the layout's `bin`, such as the Node that the reference stack looks for there. */
  readonly programs?: Readonly<Record<string, string>>
  /** The whole environment of its processes but for what is relocated: `HOME` and `TMPDIR`. Default: a `PATH` of the system's. */
  readonly env?: Readonly<Record<string, string>>
  /** The directory that everything lies in, which is kept. Default: a temporary one, removed at the end. */
  readonly keep?: string
  /** For which trial it is. Stands, with this process, in the environment of its processes, where `LocalReaper` finds it. */
  readonly owner?: { readonly runId: string; readonly trialId: string }
}

/** In messages. */
const NAME = "this machine (plain)"

const PATH = "/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin:/usr/sbin:/sbin"

/** The variable that all its processes have; its value is the directory, which no two have in common. */
const MARK = "BUZZ_ORCHESTRA_PLACE"

/** What is left of a shell then is killed; whatever it started is looked for at the end anyway. */
const GRACE = "200 millis"

type Needs = ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem | Path.Path

/** The layer's scope owns directory and processes. Fails with `EnvironmentNotCreated` where the directory cannot be made. */
export const layer = (
  options: PlainEnvironmentOptions = {}
): Layer.Layer<EnvironmentService, EnvironmentError, Needs> => Layer.effect(EnvironmentService, make(options))

const make = Effect.fnUntraced(function* (
  options: PlainEnvironmentOptions
): Effect.fn.Return<EnvironmentService["Service"], EnvironmentError, Needs | Scope.Scope> {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const places = yield* Effect.mapError(makePlaces(options), ({ message, cause }) => notCreated(message, cause))
  const { knowsOthers } = yield* HostProcess.pipe(Effect.provide(HostProcess.layer))
  const owner = yield* ProcessOwner.current(options.owner ?? { runId: "", trialId: "" })
  // Ends in a way that no longer path does.
  const place = `${places.root}/.`
  const mark = `${MARK}=${place}`
  const path = options.env?.["PATH"] ?? PATH
  const env = {
    LANG: "C.UTF-8",
    ...options.env,
    PATH: places.helpers === undefined ? path : `${path}:${places.helpers}`,
    HOME: places.home,
    TMPDIR: places.temporary,
    [MARK]: place,
    ...ProcessOwner.toVariable(owner)
  }
  const bin = layoutAt(places.stack).bin
  // Registered first, so that it looks when the environment's own shells have ended.
  yield* Effect.addFinalizer(() => endMarked({ mark, bin, path }).pipe(Effect.provideService(SPAWNER, spawner)))

  const open: OpenProcess = Effect.fnUntraced(function* ([program = "sh", ...args], openOptions) {
    if (openOptions?.user !== undefined)
      return yield* notRun(`it has no user but the one who started it, and ${openOptions.user} was asked for`)
    // In a session of its own: no signal of this process's terminal reaches it.
    const command = ChildProcess.make(program, args, { env, cwd: places.root, forceKillAfter: GRACE })
    return yield* spawnDuplex(spawner, command, (cause) => notRun(`${program} cannot be started: ${cause.message}`))
  })
  return yield* environmentOver({ name: NAME, open, temporary: places.temporary, lost: Effect.never }, (run) =>
    Effect.map(run(ASK), (said): EnvironmentFacts => {
      const [architecture = ""] = said.split("\n")
      return {
        kind: "plain",
        name: NAME,
        workDirectory: places.work,
        logsDirectory: places.logs,
        testsDirectory: places.tests,
        homeDirectory: places.home,
        // As Linux calls it.
        architecture: architecture === "arm64" ? "aarch64" : architecture,
        created: true,
        stackRoots: [places.stack],
        mark,
        limitations: limitations(said.endsWith("\nproc"), knowsOthers)
      }
    })
  )
})

const SPAWNER = ChildProcessSpawner.ChildProcessSpawner

const ASK = `uname -m; ${HAS_PROC} && echo proc`

/** What cannot be promised, the gravest first. */
const limitations = (hasProc: boolean, knowsOthers: boolean): ReadonlyArray<string> => [
  "Nothing protects this machine: agents act on all its files and processes with the rights of the user who started them.",
  "Everything is the machine's: its network, its programs, its users. Nothing is limited.",
  "Paths are not those of other environments: /app, /logs and /tests are directories of a private one.",
  "A process that clears its environment and loses its parent is not found, and outlives the trial.",
  knowsOthers
    ? "When this program is killed, what it started goes on until the next reap."
    : "When this program is killed, what it started goes on, and reap cannot end it: nobody tells whether its owner lives.",
  ...(hasProc
    ? []
    : [
        "Processes are told apart by the second in which they began, and those of the system's own programs hide their environment."
      ])
]

interface Places {
  readonly root: string
  readonly stack: string
  readonly work: string
  readonly logs: string
  readonly tests: string
  readonly home: string
  readonly temporary: string
  /** Directory with what the machine's own programs lack. */
  readonly helpers: string | undefined
}

const makePlaces = Effect.fnUntraced(function* (
  options: PlainEnvironmentOptions
): Effect.fn.Return<Places, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directory = options.keep === undefined ? yield* OwnedDirectory.make : path.resolve(options.keep)
  yield* fs.makeDirectory(directory, { recursive: true, mode: 0o700 })
  // Processes know their directories by what they are without links, as temporary ones of macOS are.
  const root = yield* fs.realPath(directory)
  const [stack, work, logs, tests, home, temporary] = ["opt/buzz", "work", "logs", "tests", "home", "tmp"].map((name) =>
    path.join(root, name)
  ) as [string, string, string, string, string, string]
  const { bin } = layoutAt(stack)
  yield* Effect.forEach([bin, work, logs, tests, home, temporary], (at) => fs.makeDirectory(at, { recursive: true }))
  for (const [name, source] of Object.entries(options.programs ?? {})) {
    // A directory that was kept has it already.
    yield* fs.remove(path.join(bin, name), { force: true })
    yield* fs.symlink(path.resolve(source), path.join(bin, name))
  }
  const helpers = yield* makeHelpers(path.join(root, "helpers"), options.env?.["PATH"] ?? PATH)
  return { root, stack, work, logs, tests, home, temporary, helpers }
})

/** A `setsid` where the machine has none; without Perl either, programs share the session of the shell that starts them. */
const SETSID = `#!/bin/sh
exec perl -e 'use POSIX; POSIX::setsid(); exec { $ARGV[0] } @ARGV; exit 127' -- "$@"
`

const makeHelpers = Effect.fnUntraced(function* (directory: string, searchPath: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const has = (program: string) =>
    Effect.map(
      Effect.filter(searchPath.split(":"), (folder) =>
        Effect.orElseSucceed(fs.exists(path.join(folder, program)), () => false)
      ),
      (folders) => folders.length > 0
    )
  if ((yield* has("setsid")) || !(yield* has("perl"))) return undefined
  yield* fs.makeDirectory(directory, { recursive: true })
  yield* fs.writeFileString(path.join(directory, "setsid"), SETSID, { mode: 0o755 })
  return directory
})

const notCreated = (detail: string, cause: unknown) =>
  new EnvironmentError({
    operation: "PlainEnvironment.layer",
    reason: new EnvironmentNotCreated({ environment: NAME, detail, cause })
  })

const notRun = (detail: string) =>
  new EnvironmentError({
    operation: "PlainEnvironment.open",
    reason: new CommandNotRun({ environment: NAME, action: "start a program", detail })
  })
