/**
 * A private place on this Linux machine with its own root, processes and scratch files: starts it, enters it, and makes
 * sure that it ends. What its root consists of is decided in `SandboxPlan`.
 *
 * Its first process only reaps and depends on no other, so nothing inside can end it. It dies with the scope, and with
 * this process however that ends: by the kernel's parent-death signal, and because it does not begin before it has read a
 * line that only a living parent writes.
 */
import {
  type Cause,
  Deferred,
  Duration,
  Effect,
  FileSystem,
  Option,
  type PlatformError,
  Queue,
  Result,
  Schedule,
  type Scope,
  Stream
} from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { CommandNotRun, EnvironmentError, EnvironmentLost, EnvironmentNotCreated } from "./EnvironmentError.ts"
import { spawnDuplex } from "./internal/childDuplex.ts"
import { makeHeadTail } from "./internal/headTail.ts"
import { parseProcStat, type ProcStat } from "./internal/procStat.ts"
import { findPrograms, type Programs } from "./internal/hostPrograms.ts"
import { parseUser, setprivUser } from "./internal/sandboxUser.ts"
import { bwrapArguments, SANDBOX_CAPABILITIES, type SandboxPlan, unshareScript, words } from "./SandboxPlan.ts"
import type { OpenProcess } from "./ByteDuplex.ts"
import { isDeadState } from "./WatchEvent.ts"

/** The program that builds a sandbox: bubblewrap's, or util-linux's together with a script. */
export type SandboxBackend = "bwrap" | "unshare"

/** A sandbox that runs. */
export interface Sandbox {
  readonly name: string
  /** Pid of its first process on this machine. */
  readonly pid: number
  readonly open: OpenProcess
  /** Waits until it is gone, and says so. */
  readonly lost: Effect.Effect<EnvironmentError>
}

/** How a sandbox is built and what runs in it. */
export interface SandboxOptions {
  readonly backend: SandboxBackend
  readonly plan: SandboxPlan
  /** The whole environment of its processes. */
  readonly env: Readonly<Record<string, string>>
  /** Stands beside that in the environment of its first process only, where others on this machine can read it. */
  readonly marks?: Readonly<Record<string, string>>
}

/** Until a sandbox must be built. Building takes milliseconds; a machine under load takes longer. */
const BUILD_LIMIT = Duration.seconds(20)

/** Until every process must have ended after the first one was killed. */
const END_LIMIT = Duration.seconds(5)

/** Building and entering take these. Those that enter are called by path, for PATH inside is the caller's to choose. */
const PROGRAMS = {
  bwrap: ["bwrap", "nsenter", "setpriv", "setsid"],
  unshare: ["unshare", "mount", "umount", "pivot_root", "nsenter", "setpriv", "setsid"]
} as const

/** PID 1 of the sandbox. A shell's `wait` reaps whatever was orphaned; the sleep is started again if someone kills it. */
const INIT = `echo ready; read -r go || exit 1
exec </dev/null >/dev/null 2>&1
while :; do sleep 2147483647 & wait; done`

/** Starts a sandbox; the scope ends it and waits until nothing of it is left. */
export const openSandbox = Effect.fnUntraced(function* (
  options: SandboxOptions
): Effect.fn.Return<
  Sandbox,
  EnvironmentError,
  ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem | Scope.Scope
> {
  const name = `local sandbox (${options.backend})`
  const fs = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const { missing, programs } = yield* findPrograms(PROGRAMS[options.backend])
  if (missing.length > 0) return yield* notCreated(name, `not installed: ${missing.join(", ")}`)
  const first = yield* start(name, options, programs)
  const lost = yield* Deferred.make<EnvironmentError>()
  yield* first.exitCode.pipe(
    Effect.flatMap((exitCode) => Deferred.succeed(lost, gone(name, exitCode))),
    Effect.forkScoped
  )
  const passwd = yield* Effect.orElseSucceed(fs.readFileString("/etc/passwd"), () => "")

  const open: OpenProcess = Effect.fnUntraced(function* (argv, openOptions) {
    // A pid is only safe to enter as long as nobody else can have been given it.
    if (yield* Deferred.isDone(lost)) return yield* Effect.flatMap(Deferred.await(lost), Effect.fail)
    const user = userOptions(openOptions?.user, passwd, options.plan.privileged)
    if (Result.isFailure(user)) return yield* notRun(name, user.failure)
    const command = enter(first.pid, options, programs, [...user.success], argv)
    return yield* spawnDuplex(spawner, command, (cause) => notRun(name, notStarted("nsenter", cause), cause))
  })
  return { name, pid: first.pid, open, lost: Deferred.await(lost) }
})

const CAPABILITIES = `--bounding-set=-all,${SANDBOX_CAPABILITIES.map((capability) => `+${capability}`).join(",")}`

/** A session of its own keeps signals of this process's terminal away, and gives the program a process group inside. */
const enter = (
  pid: number,
  options: SandboxOptions,
  programs: Programs,
  user: ReadonlyArray<string>,
  argv: ReadonlyArray<string>
): ChildProcess.Command =>
  ChildProcess.make(
    programs["nsenter"] ?? "nsenter",
    [
      ...words(`--target ${pid} --mount --pid --ipc`),
      ...(options.plan.privileged ? [] : words("--user --preserve-credentials")),
      ...words(`-- ${programs["setpriv"]} ${CAPABILITIES} --inh-caps=-all --no-new-privs`),
      ...user,
      ...words(`-- ${programs["setsid"]}`),
      ...argv
    ],
    { env: options.env, cwd: "/", forceKillAfter: "1 second" }
  )

const userOptions = (
  user: string | undefined,
  passwd: string,
  privileged: boolean
): Result.Result<ReadonlyArray<string>, string> => {
  if (user === undefined) return Result.succeed([])
  const known = parseUser(user, passwd)
  if (known === undefined) return Result.fail(`there is no user ${user}`)
  if (privileged) return Result.succeed(setprivUser(known))
  return known.uid === 0 ? Result.succeed([]) : Result.fail(`it has no user but root, and ${user} was asked for`)
}

/** Why a program could not be started. The platform's own sentence holds the whole command, which helps nobody. */
const notStarted = (program: string, { reason }: PlatformError.PlatformError): string =>
  reason._tag === "NotFound" ? `${program} is not installed` : `${program} cannot be started (${reason._tag})`

interface FirstProcess {
  readonly pid: number
  readonly exitCode: Effect.Effect<number | undefined>
}

/** Builds the root and waits until the first process stands in it. */
const start = Effect.fnUntraced(function* (
  name: string,
  options: SandboxOptions,
  programs: Programs
): Effect.fn.Return<
  FirstProcess,
  EnvironmentError,
  ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem | Scope.Scope
> {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const fs = yield* FileSystem.FileSystem
  let born: ProcStat | undefined
  // Registered before the spawn, so that it looks when the kill is done.
  yield* Effect.addFinalizer(() => (born === undefined ? Effect.void : awaitEnd(fs, name, born)))
  const handle = yield* Effect.mapError(spawner.spawn(builder(options, programs)), (cause) =>
    notCreated(name, notStarted(options.backend === "bwrap" ? "bwrap" : "setpriv", cause), cause)
  )
  const input = yield* Queue.make<Uint8Array, Cause.Done>()
  yield* Effect.forkScoped(Effect.ignore(Stream.run(Stream.fromQueue(input), handle.stdin)))
  const complaints = makeHeadTail(COMPLAINT_BYTES)
  yield* Stream.runForEach(handle.stderr, (bytes) => Effect.sync(() => complaints.push(bytes))).pipe(
    Effect.ignore,
    Effect.forkScoped
  )
  const announced = options.backend === "bwrap" ? [handle.stdout, handle.getOutputFd(3)] : [handle.stdout]
  let text = ""
  const ready = yield* Stream.mergeAll(announced, { concurrency: "unbounded" }).pipe(
    Stream.decodeText(),
    Stream.map((part) => parseAnnouncement((text += part))),
    Stream.filter((announcement) => announcement !== undefined),
    Stream.runHead,
    Effect.orElseSucceed(() => Option.none<number>()),
    Effect.timeoutOption(BUILD_LIMIT)
  )
  const pid = Option.getOrUndefined(Option.flatten(ready))
  if (pid === undefined) {
    yield* Effect.timeoutOption(Effect.exit(handle.exitCode), Option.isNone(ready) ? Duration.zero : END_LIMIT)
    const said = new TextDecoder().decode(complaints.bytes()).trim()
    const reason = Option.isNone(ready) ? `it was not built within ${Duration.format(BUILD_LIMIT)}` : said
    return yield* notCreated(name, reason)
  }
  born = yield* lookAt(fs, pid)
  Queue.offerUnsafe(input, new TextEncoder().encode("go\n"))
  return { pid, exitCode: Effect.orElseSucceed(Effect.map(handle.exitCode, Number), () => undefined) }
})

const COMPLAINT_BYTES = 4096

const builder = ({ backend, env, marks, plan }: SandboxOptions, programs: Programs): ChildProcess.Command => {
  // TERM means nothing to unshare; the kernel ends everything below by KILL in both cases.
  const settings = { env: { ...env, ...marks }, cwd: "/", killSignal: "SIGKILL" } as const
  if (backend === "bwrap") {
    const args = [...bwrapArguments(plan), "--", "sh", "-c", INIT]
    return ChildProcess.make(programs["bwrap"] ?? "bwrap", args, {
      ...settings,
      additionalFds: { fd3: { type: "output" } }
    })
  }
  return ChildProcess.make(
    programs["setpriv"] ?? "setpriv",
    [
      ...words(
        `--pdeathsig KILL -- ${programs["unshare"]} ${plan.privileged ? "" : "--user --map-root-user "}--mount --pid --ipc`
      ),
      ...words("--fork --kill-child=KILL -- sh -c"),
      unshareScript(plan, INIT)
    ],
    settings
  )
}

/** The pid on this machine, once the first process has said that it stands in its root. */
const parseAnnouncement = (text: string): number | undefined => {
  const [, pid] = /(?:^pid |"child-pid": )([0-9]+)[^0-9]/m.exec(text) ?? []
  return pid !== undefined && text.includes("ready\n") ? Number(pid) : undefined
}

const lookAt = (fs: FileSystem.FileSystem, pid: number) =>
  Effect.orElseSucceed(Effect.map(fs.readFileString(`/proc/${pid}/stat`), parseProcStat), () => undefined)

/** A first process that is a zombie has outlived all others: the kernel ends it last. */
const awaitEnd = (fs: FileSystem.FileSystem, name: string, born: ProcStat): Effect.Effect<void> =>
  lookAt(fs, born.pid).pipe(
    Effect.map((now) => now?.startTime !== born.startTime || isDeadState(now.state)),
    Effect.repeat({ until: (ended) => ended, schedule: Schedule.spaced("2 millis") }),
    Effect.timeoutOption(END_LIMIT),
    Effect.flatMap((outcome) =>
      Option.isSome(outcome)
        ? Effect.void
        : Effect.logWarning(`${name}: process ${born.pid} is still there although it was killed`)
    )
  )

const withCause = (cause: unknown) => (cause === undefined ? {} : { cause })

const notCreated = (environment: string, detail: string, cause?: unknown) =>
  new EnvironmentError({
    operation: "LocalEnvironment.layer",
    reason: new EnvironmentNotCreated({ environment, detail, ...withCause(cause) })
  })

const notRun = (environment: string, detail: string, cause?: unknown) =>
  new EnvironmentError({
    operation: "LocalEnvironment.open",
    reason: new CommandNotRun({ environment, action: "start a program", detail, ...withCause(cause) })
  })

const gone = (environment: string, exitCode: number | undefined) =>
  new EnvironmentError({
    operation: "LocalEnvironment.open",
    reason: new EnvironmentLost({ environment, detail: "its first process has ended", exitCode })
  })
