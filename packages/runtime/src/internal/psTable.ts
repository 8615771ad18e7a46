/**
 * This machine's processes as `ps` tells them to this process, where there is no `/proc`. Nothing is known where no program can be
 * started either.
 */
import { Effect, Option } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { parseProcStat, type ProcStat } from "./procStat.ts"
import { PS_STATS } from "./processText.ts"

/** `ps` takes milliseconds. */
const LIMIT = "10 seconds"

const run = Effect.fnUntraced(function* (script: string) {
  const spawner = yield* Effect.serviceOption(ChildProcessSpawner.ChildProcessSpawner)
  if (Option.isNone(spawner)) return ""
  const command = ChildProcess.make("sh", ["-c", `${PS_STATS}\n${script}`], { extendEnv: true, stdin: "ignore" })
  return yield* spawner.value.string(command).pipe(
    Effect.timeout(LIMIT),
    Effect.orElseSucceed(() => "")
  )
})

/** A process and the moment at which its system was started, which no other start has. */
export interface PsSelf {
  readonly boot: string
  readonly stat: ProcStat
}

/** `kern.bootsessionuuid` is macOS's. A shell's parent is this process. */
export const psSelf: Effect.Effect<PsSelf | undefined> = Effect.map(
  run(`sysctl -n kern.bootsessionuuid 2>/dev/null || echo; ( ps_stats $PPID )`),
  (said) => {
    const [boot = "", line = ""] = said.split("\n")
    const stat = parseProcStat(line)
    return stat === undefined || boot.trim() === "" ? undefined : { boot: boot.trim(), stat }
  }
)

/** One process, or all. */
export const psStats = (pid?: number): Effect.Effect<ReadonlyArray<ProcStat>> =>
  Effect.map(run(`ps_stats ${pid ?? ""}`), (said) => said.split("\n").flatMap((line) => parseProcStat(line) ?? []))

/** A process with its arguments, and with its environment behind them as far as the system shows it. */
export interface PsCommand {
  readonly pid: number
  readonly command: string
  readonly withEnvironment: string
}

/** All processes that tell `text` of themselves. */
export const psCommands = Effect.fnUntraced(function* (text: string): Effect.fn.Return<ReadonlyArray<PsCommand>> {
  const full = linesOf(yield* run("ps axeww -o pid= -o command="))
  const commands = new Map(linesOf(yield* run("ps -A -ww -o pid= -o args=")))
  return full.flatMap(([pid, withEnvironment]) =>
    withEnvironment.includes(text) ? [{ pid, command: commands.get(pid) ?? "", withEnvironment }] : []
  )
})

const linesOf = (listing: string): ReadonlyArray<readonly [pid: number, rest: string]> =>
  listing.split("\n").flatMap((line) => {
    const [, pid, rest] = /^ *([1-9][0-9]*) (.*)$/.exec(line) ?? []
    return pid === undefined || rest === undefined ? [] : [[Number(pid), rest] as const]
  })
