/** A named pipe, which Node cannot make by itself. */
import { ChildProcess, ChildProcessSpawner } from "effect/process"

export const mkfifo = (path: string) =>
  ChildProcessSpawner.ChildProcessSpawner.use((spawner) =>
    spawner.exitCode(ChildProcess.make("mkfifo", [path], { extendEnv: true }))
  )
