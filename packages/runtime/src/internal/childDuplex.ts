/**
 * A child process of this machine as a `ByteDuplex`.
 */
import { Effect, type PlatformError, type Scope, Sink, Stream } from "effect"
import type { ChildProcess, ChildProcessSpawner } from "effect/process"
import type { EnvironmentError } from "../EnvironmentError.ts"
import type { ByteDuplex } from "../ByteDuplex.ts"

/**
 * Spawns `command`; the scope ends it. Both output streams must be consumed. `onError` words what the platform refuses.
 */
export const spawnDuplex = Effect.fnUntraced(function* (
  spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
  command: ChildProcess.Command,
  onError: (cause: PlatformError.PlatformError) => EnvironmentError
): Effect.fn.Return<ByteDuplex & { readonly pid: number }, EnvironmentError, Scope.Scope> {
  const handle = yield* Effect.mapError(spawner.spawn(command), onError)
  return {
    pid: handle.pid,
    stdin: Sink.mapError(handle.stdin, onError),
    stdout: Stream.mapError(handle.stdout, onError),
    stderr: Stream.mapError(handle.stderr, onError),
    // The spawner fails for a process that a signal ended, and does not say which signal as a number.
    exitCode: Effect.map(
      Effect.orElseSucceed(handle.exitCode, () => 128 + 9),
      Number
    )
  }
})
