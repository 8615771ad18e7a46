/**
 * Watches from inside over what is started in a container that stays.
 */
import { type Cause, Deferred, Duration, Effect, Option, Queue, type Scope, Stream } from "effect"
import { FAREWELL, type OpenProcess } from "../../ByteDuplex.ts"
import type { EnvironmentError } from "../../EnvironmentError.ts"
import { FAREWELL_WORD, GUARD_SCRIPT, READY_WORD } from "./guardScript.ts"

/** What the guard ends when this process is gone without a word. */
export interface Guarded {
  /** File in the container in which processes name themselves (`registered`). */
  readonly registry: string
  /** Where the stack's programs may lie. */
  readonly bins: ReadonlyArray<string>
}

/** Longer means that the container does not work, which the next who uses it will say better. */
const READY_LIMIT = Duration.seconds(10)

/**
 * Whether the container is guarded: it may have no shell, or no place for the file. The scope ends the guard in good order. `open`
 * must start it unregistered: it would end itself.
 */
export const guardContainer = Effect.fnUntraced(function* (
  open: OpenProcess,
  { bins, registry }: Guarded
): Effect.fn.Return<boolean, EnvironmentError, Scope.Scope> {
  // Root reads whose program a process runs, whatever user it is of.
  const guard = yield* open(["sh", "-c", GUARD_SCRIPT, "buzz-guard", registry, ...bins], { user: "0:0" })
  const input = yield* Queue.make<Uint8Array, Cause.Done>()
  const ready = yield* Deferred.make<boolean>()
  yield* Effect.forkScoped(Effect.ignore(Stream.run(Stream.fromQueue(input), guard.stdin)))
  yield* Effect.forkScoped(Effect.ignore(Stream.runDrain(guard.stderr)))
  yield* Stream.decodeText(guard.stdout).pipe(
    Stream.runForEach((text) => Deferred.succeed(ready, text.startsWith(READY_WORD))),
    Effect.ignore,
    Effect.ensuring(Deferred.succeed(ready, false)),
    Effect.forkScoped
  )
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      yield* Queue.offer(input, new TextEncoder().encode(`${FAREWELL_WORD}\n`))
      yield* Queue.end(input)
      yield* Effect.timeoutOption(Effect.exit(guard.exitCode), FAREWELL)
    })
  )
  return Option.getOrElse(yield* Effect.timeoutOption(Deferred.await(ready), READY_LIMIT), () => false)
})
