/**
 * Small commands through persistent shells: an environment opens `sh` over any byte duplex, and a command then costs a
 * write and a read instead of a new process at the environment's border. What is sent and how it is framed is
 * decided in `internal/shellText` and `internal/shellSession`; this module decides which shell runs what, and for how long.
 *
 * A shell runs one command at a time. When all are busy another one is opened (up to `MAX_SHELLS`), so a command that
 * hangs delays nobody. A shell that died, or whose output a process left behind still holds, is not used again.
 */
import { Clock, Duration, Effect, Option, type Scope } from "effect"
import type { OpenProcess } from "./ByteDuplex.ts"
import { CommandNotRun, EnvironmentError } from "./EnvironmentError.ts"
import type { EnvironmentVariables } from "./EnvironmentService.ts"
import { armLimit, disarmLimit, killCommand } from "./internal/commandKill.ts"
import { makeShellPool } from "./internal/shellPool.ts"
import type { SessionFailure, SessionOutput, ShellSession } from "./internal/shellSession.ts"

export type { ByteDuplex, OpenProcess } from "./ByteDuplex.ts"

/** What a shell needs of its environment. */
export interface ShellHost {
  /** Names the environment in errors. */
  readonly environment: string
  readonly open: OpenProcess
  /** Waits until the environment is gone, and says so. */
  readonly lost: Effect.Effect<EnvironmentError>
}

/** One command for a shell, with everything decided. */
export interface ShellCommand {
  readonly command: string
  readonly cwd: string
  /** Written to the shell's stdin, never an argument of a process. */
  readonly env?: EnvironmentVariables
  /** Default: nothing (`/dev/null`). Meant for small inputs: it is sent as text, up to four times its size. */
  readonly stdin?: Uint8Array
  readonly user?: string
  readonly timeLimit: Duration.Duration
  /** Bytes kept of stdout and of stderr, half from each end. */
  readonly maxOutputBytes: number
}

/** How a command ended and what it printed, as bytes. */
export interface ShellOutput extends SessionOutput {
  /** The time limit ended it. */
  readonly timedOut: boolean
}

/** The shells of one environment; which of them runs a command is no concern of the caller's. */
export interface Shell {
  /**
   * Runs a command to its end. At its time limit, and on interruption, everything of it is killed inside the environment: its
   * process tree and what shares its process group; what an earlier command left running is spared.
   */
  readonly run: (command: ShellCommand) => Effect.Effect<ShellOutput, EnvironmentError>
}

/** Shells open at once, without the one that only kills. Each costs a process, and with a container an exec session. */
export const MAX_SHELLS = 16

/**
 * A command that runs longer than this gets its limit armed inside the environment, where it holds even if this process is gone.
 * Most never do, and arming costs more than they.
 */
const ARM_AFTER = Duration.millis(100)

/** How long the end of a killed command is waited for before its shell is given up. */
const KILL_GRACE = Duration.seconds(5)

/** A shell that ends may be the first sign that the environment did; an engine on a busy machine takes its time to say so. */
const LOSS_GRACE = Duration.seconds(1)

/** Opens no shell yet; the scope owns all that are opened later. */
export const makeShell = Effect.fnUntraced(function* (host: ShellHost): Effect.fn.Return<Shell, never, Scope.Scope> {
  const pool = yield* makeShellPool(host, MAX_SHELLS)
  const killer = yield* makeKiller(host)

  const once = (command: ShellCommand) =>
    pool.use(command.user, (session) =>
      // A command that was sent is either waited for or killed, whenever the interruption comes.
      Effect.uninterruptibleMask((restore) => {
        const running = session.start(
          { command: command.command, cwd: command.cwd, env: command.env ?? {}, stdin: command.stdin },
          command.maxOutputBytes
        )
        return restore(supervise(host, killer, session, running, command.timeLimit)).pipe(
          Effect.onInterrupt(() => killer.kill(session))
        )
      })
    )

  const run = Effect.fnUntraced(function* (command: ShellCommand) {
    return yield* once(command).pipe(
      // A shell that died while it was idle says so only when it is used.
      Effect.catchIf(isUnbegun, () => once(command)),
      Effect.catchTag("SessionFailure", (failure) =>
        failure.kind === "refused" ? notRun(host, failure.detail) : lossOr(host, notRun(host, failure.detail))
      )
    )
  })

  return { run }
})

type Running = ReturnType<ShellSession["start"]>
type Killer = Effect.Success<ReturnType<typeof makeKiller>>

const KILLED = 128 + 9

const notRun = (host: ShellHost, detail: string) =>
  new EnvironmentError({
    operation: "EnvironmentService.exec",
    reason: new CommandNotRun({ environment: host.environment, action: "run a command", detail })
  })

const isUnbegun = (error: SessionFailure | EnvironmentError): error is SessionFailure =>
  error._tag === "SessionFailure" && error.kind === "died" && !error.begun

const lossOr = (host: ShellHost, error: EnvironmentError): Effect.Effect<never, EnvironmentError> =>
  Effect.flatMap(Effect.timeoutOption(host.lost, LOSS_GRACE), (lost) =>
    Effect.fail(Option.getOrElse(lost, () => error))
  )

/** Waits for the result, with the limit armed as soon as the command proves to be no small one. */
const supervise = Effect.fnUntraced(function* (
  host: ShellHost,
  killer: Killer,
  session: ShellSession,
  running: Running,
  limit: Duration.Duration
): Effect.fn.Return<ShellOutput, SessionFailure | EnvironmentError> {
  const started = yield* Clock.currentTimeMillis
  const quick = yield* Effect.timeoutOption(running.output, Duration.min(ARM_AFTER, limit))
  if (Option.isSome(quick)) return { ...quick.value, timedOut: false }
  if (!Duration.isFinite(limit)) return { ...(yield* running.output), timedOut: false }
  const left = Duration.millis(Math.max(1, Duration.toMillis(limit) - ((yield* Clock.currentTimeMillis) - started)))
  const armed = yield* Effect.acquireUseRelease(
    killer.arm(session, left),
    () => Effect.timeoutOption(running.output, Duration.sum(left, KILL_GRACE)),
    killer.disarm
  )
  if (Option.isNone(armed)) yield* killer.kill(session)
  const output = Option.isSome(armed) ? armed : yield* settle(running)
  if (Option.isNone(output)) return yield* notRun(host, "it did not end when it was killed at its time limit")
  const late = (yield* Clock.currentTimeMillis) - started >= Duration.toMillis(limit)
  return { ...output.value, timedOut: late && output.value.exitCode === KILLED }
})

/** Waits, bounded, until the shell has reported a command that was killed. */
const settle = (running: Running) => Effect.timeoutOption(running.output, KILL_GRACE)

/** One more shell that only kills, so that killing never waits for a shell that is busy. */
const makeKiller = Effect.fnUntraced(function* (host: ShellHost) {
  const pool = yield* makeShellPool(host, 1)
  const send = (command: string) =>
    pool
      .use(undefined, (session) => session.start({ command, cwd: "/", env: {}, stdin: undefined }, 4096).output)
      .pipe(
        Effect.timeoutOption(KILL_GRACE),
        // A killer that fails leaves the command to the limit of whoever waits for it.
        Effect.orElseSucceed(() => Option.none<SessionOutput>())
      )
  return {
    arm: (session: ShellSession, limit: Duration.Duration) =>
      Effect.map(send(armLimit(session, Duration.toSeconds(limit))), (output) =>
        Option.map(output, ({ stdout }) => Number(new TextDecoder().decode(stdout).trim()))
      ),
    disarm: (pid: Option.Option<number>) =>
      Option.isNone(pid) ? Effect.void : Effect.asVoid(send(disarmLimit(pid.value))),
    kill: (session: ShellSession) => send(killCommand(session))
  }
})
