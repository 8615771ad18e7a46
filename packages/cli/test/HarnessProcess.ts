/**
 * The command as a child process: its output as it comes, its end, and the processes of its trial as `/proc` shows them.
 */
import { Effect, Schedule, type Scope } from "effect"
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** The repository. */
export const ROOT = fileURLToPath(new URL("../../..", import.meta.url))

const BIN = fileURLToPath(new URL("../src/bin.ts", import.meta.url))

/** Where the tested commands remember their trials: not among those of whoever runs the tests. */
const STATE = join(tmpdir(), `buzz-orchestra-tests-${process.pid}`)

/** One line of `--json`. */
type JsonEvent = Readonly<Record<string, unknown>> & { readonly event: string }

/** A running command. */
export interface HarnessProcess {
  readonly pid: number
  readonly stdout: () => string
  readonly stderr: () => string
  /** The events of `--json` so far. */
  readonly events: () => ReadonlyArray<JsonEvent>
  readonly kill: (signal: NodeJS.Signals) => void
  /** Writes to its stdin. */
  readonly write: (text: string) => void
  /** Waits for its end: the exit code, or the signal that ended it. */
  readonly ended: Effect.Effect<number | NodeJS.Signals>
  readonly hasEnded: () => boolean
}

/** Starts the command, or another `program`; the scope kills it if it still runs. */
export const start = (
  args: ReadonlyArray<string>,
  options: { readonly env?: Readonly<Record<string, string>>; readonly program?: string } = {}
): Effect.Effect<HarnessProcess, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, [options.program ?? BIN, ...args], {
          cwd: ROOT,
          env: { ...process.env, XDG_STATE_HOME: STATE, ...options.env }
        })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    ),
    observe
  )

const observe = (child: ChildProcessWithoutNullStreams): HarnessProcess => {
  const output = { stdout: "", stderr: "" }
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text))
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once("close", (code, signal) => resolve(signal ?? code ?? 0))
  })
  return {
    pid: child.pid ?? 0,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    events: () =>
      output.stdout
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as JsonEvent),
    kill: (signal) => child.kill(signal),
    write: (text) => child.stdin.write(text),
    ended: Effect.promise(() => ended),
    hasEnded: () => child.exitCode !== null || child.signalCode !== null
  }
}

const POLL_MILLIS = 100

/**
 * Waits until `look` finds something; a defect with `what` and the process's words when it does not in `seconds`, or when
 * the process has ended and nothing can come any more.
 */
export const eventually = <A>(
  what: string,
  seconds: number,
  harness: HarnessProcess,
  look: () => A | undefined,
  mayEnd = false
): Effect.Effect<A> =>
  Effect.suspend(() => {
    // Asked first: what a process does last may be what is looked for.
    const over = mayEnd ? false : harness.hasEnded()
    const found = look()
    if (found !== undefined) return Effect.succeed(found)
    return Effect.fail(over ? "it ended" : "not in time")
  }).pipe(
    Effect.retry({
      schedule: Schedule.spaced(POLL_MILLIS),
      times: (seconds * 1000) / POLL_MILLIS,
      while: (why) => why === "not in time"
    }),
    Effect.catch((why) => Effect.die(new Error(`${what}: ${why}\n${harness.stdout()}\n${harness.stderr()}`)))
  )

/** A process, told from a later one with the same pid by its start time. */
export interface ProcessId {
  readonly pid: number
  readonly startTime: string
  readonly command: string
}

interface Stat {
  readonly state: string
  readonly parent: number
  readonly startTime: string
}

const stat = (pid: number): Stat | undefined => {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, "utf8")
    // The name, in parentheses, may hold anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    return { state: fields[0] ?? "", parent: Number(fields[1]), startTime: fields[19] ?? "" }
  } catch {
    return undefined
  }
}

const command = (pid: number): string => {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim()
  } catch {
    return ""
  }
}

/** Every living process below `pid`, however deep, with those that have left its process group and session. */
export const descendants = (pid: number): ReadonlyArray<ProcessId> => {
  const stats = fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const found = stat(Number(name))
      return found === undefined || found.state === "Z" ? [] : [{ pid: Number(name), ...found }]
    })
  const below = (parent: number): typeof stats =>
    stats.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)])
  return below(pid).map(({ pid, startTime }) => ({ pid, startTime, command: command(pid) }))
}

/** Those that still live; a zombie is dead. */
export const alive = (processes: ReadonlyArray<ProcessId>): ReadonlyArray<ProcessId> =>
  processes.filter(({ pid, startTime }) => {
    const now = stat(pid)
    return now !== undefined && now.state !== "Z" && now.startTime === startTime
  })

/** Processes that have `text` in their environment, such as the id of a trial's channel. */
export const withEnvironment = (text: string): ReadonlyArray<number> =>
  fs.readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return []
    try {
      return fs.readFileSync(`/proc/${name}/environ`, "latin1").includes(text) ? [Number(name)] : []
    } catch {
      return []
    }
  })
