/**
 * A program run to its end, with what it printed. It is killed when it takes too long, so that nothing outlives a test.
 */
import { spawn } from "node:child_process"

/** How a program ended. `signal` is what ended it, if one did. */
export interface Finished {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** Where and for how long it runs; `onStdout` sees everything printed so far and may send a signal. */
export interface RunOptions {
  readonly cwd: string
  /** Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv
  /** Default: two minutes. */
  readonly timeoutMillis?: number
  readonly onStdout?: (printed: string, kill: (signal: NodeJS.Signals) => void) => void
}

/** Runs it. Rejects only when it cannot be started. */
export const run = (command: string, args: ReadonlyArray<string>, options: RunOptions): Promise<Finished> =>
  new Promise((resolve, reject) => {
    const { cwd, env = process.env, onStdout, timeoutMillis = 120_000 } = options
    const child = spawn(command, args, {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: timeoutMillis,
      killSignal: "SIGKILL"
    })
    let stdout = ""
    let stderr = ""
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString()
      onStdout?.(stdout, (signal) => child.kill(signal))
    })
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
    child.on("error", reject)
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }))
  })

/** Runs it and returns what it printed on stdout; an exit code other than 0 is an error that holds all of its output. */
export const output = async (command: string, args: ReadonlyArray<string>, options: RunOptions): Promise<string> => {
  const { code, signal, stderr, stdout } = await run(command, args, options)
  if (code === 0) return stdout
  throw new Error(`${command} ${args.join(" ")} ended with ${signal ?? code}\n${stdout}${stderr}`)
}
