/** Harnesses that are to be killed, as processes of their own, and how to find what they started. */
import { Deferred, Effect, FileSystem, Random, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"

/** Pids on this machine of living processes that have this argument. */
export const processesWith = Effect.fnUntraced(function* (argument: string) {
  const fs = yield* FileSystem.FileSystem
  const found: Array<string> = []
  for (const pid of yield* fs.readDirectory("/proc")) {
    if (!/^[0-9]+$/.test(pid)) continue
    const text = yield* Effect.orElseSucceed(fs.readFileString(`/proc/${pid}/cmdline`), () => "")
    if (text.split("\0").includes(argument)) found.push(pid)
  }
  return found
})

/** A harness in a process of its own, once it has said that it is ready; `argv` is put before `node`. */
export const startHarness = Effect.fnUntraced(function* (
  backend: string,
  seconds: string,
  argv: ReadonlyArray<string> = []
) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const script = new URL("../fixtures/harness.ts", import.meta.url).pathname
  const [command = "", ...args] = [...argv, process.execPath, script, backend, seconds]
  const handle = yield* spawner.spawn(
    ChildProcess.make(command, args, { extendEnv: true, killSignal: "SIGKILL", stderr: "inherit" })
  )
  let said = ""
  const ready = yield* Deferred.make<string>()
  yield* Stream.decodeText(handle.stdout).pipe(
    Stream.runForEach((text) => {
      said += text
      return said.endsWith("ready\n") ? Deferred.succeed(ready, said) : Effect.void
    }),
    Effect.ignore,
    Effect.forkScoped
  )
  return { handle, said: yield* Effect.timeout(Deferred.await(ready), "30 seconds") }
})

/** An argument of `sleep` that no other process has. */
export const uniqueSeconds = Effect.map(Random.nextIntBetween(1_000_000, 9_999_999), (n) => `3${n}.5`)
