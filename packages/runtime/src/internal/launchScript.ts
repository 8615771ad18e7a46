/**
 * The shell that starts one program of the stack in the background of an environment. POSIX only: images bring dash,
 * busybox and bash.
 */
import { STAT_OF } from "./processText.ts"
import { quote } from "./shellText.ts"

export interface Launch {
  /** Names the files: `<name>.stdout.log`, `<name>.stderr.log`, `<name>.pid`, `<name>.exit`. */
  readonly name: string
  /** Absolute path of the program inside the environment. */
  readonly program: string
  readonly args: ReadonlyArray<string>
  /** Directory of the files. */
  readonly logs: string
  /**
   * Words before the program that make the process another user's. The files are then whoever's runs this, and nobody else's to read:
   * they are opened before the user changes. What the program writes is writable for its group, too.
   */
  readonly become?: ReadonlyArray<string>
}

/**
 * Prints the program's pid and start time (field 22 of its stat) and returns at once. The pid is the program's own, so that
 * signals reach it; a small waiting shell stays its parent, reaps it (PID 1 of many images does not) and leaves its exit code in
 * `<name>.exit`. Both lead sessions of their own where `setsid` exists, so no terminal's signals reach the program, and nothing
 * that ends the launching command ends the waiting shell. Environment variables are not here: they come from the shell's
 * environment and never stand in an argument.
 *
 * The agents of a team are launched on a machine that the first of them keeps busy at once, so nothing here forks that need not: who
 * reads the small files takes an empty one for none.
 */
export const launchScript = (launch: Launch): string => {
  const { logs, name } = launch
  return `
: >${quote(`${logs}/${name}.exit`)} >${quote(`${logs}/${name}.pid`)}
if command -v setsid >/dev/null 2>&1; then pid=$(setsid sh -c ${quote(waitingShell("setsid ", launch))} &)
else pid=$(sh -c ${quote(waitingShell("", launch))} &)
fi
set --
${STAT_OF}
stat_of "$pid" && set -- \${stat##*) } && shift 19
echo "$pid $1"
`
}

/** It gives up its output as soon as it has printed the pid, or whoever waits for the end of the output would wait for it. */
const waitingShell = (detach: string, { args, become, logs, name, program }: Launch): string => {
  const at = (suffix: string) => quote(`${logs}/${name}.${suffix}`)
  const command = [program, ...args].map(quote).join(" ")
  const running =
    become === undefined
      ? `${detach}${command}`
      : `umask 077\n( umask 002; exec ${detach}${become.map(quote).join(" ")} ${command} )`
  return `${running} </dev/null >>${at("stdout.log")} 2>>${at("stderr.log")} &
pid=$!
echo "$pid" >${at("pid")}
echo "$pid"
exec 2>/dev/null </dev/null >/dev/null
wait "$pid"
echo "$?" >${at("exit")}`
}

export interface Started {
  readonly pid: number
  /** `undefined` when it ended before it could be looked at. */
  readonly startTime: string | undefined
}

/** What `launchScript` printed; `undefined` when there is no pid. */
export const parseStarted = (stdout: string): Started | undefined => {
  const [, pid, startTime] = /^([1-9][0-9]*)(?: ([0-9]+))?$/.exec(stdout.trim().split("\n").at(-1) ?? "") ?? []
  return pid === undefined ? undefined : { pid: Number(pid), startTime }
}
