/**
 * The pipes of a child process as web streams, which the SDKs of both protocols take.
 */
import { Cause, Effect, Queue, Stream } from "effect"
import type { ChildProcessSpawner } from "effect/process"

/** Chunks that may wait for a child that does not read; then the writer waits. */
const MAX_PENDING_WRITES = 64

/**
 * `writable` is the child's stdin, `readable` its stdout; `endInput` closes stdin whoever holds the writer. `onOutput` runs for each chunk of stdout, before it can be read.
 * The scope owns both directions.
 */
export const childPipes = Effect.fnUntraced(function* (
  handle: ChildProcessSpawner.ChildProcessHandle,
  onOutput: Effect.Effect<void> = Effect.void
) {
  const pending = yield* Queue.bounded<Uint8Array, Cause.Done>(MAX_PENDING_WRITES)
  // A child that died stops reading; its exit says so, the broken pipe adds nothing.
  yield* Stream.fromQueue(pending).pipe(Stream.run(handle.stdin), Effect.ignore, Effect.forkScoped)
  const runPromise = Effect.runPromiseWith(yield* Effect.context<never>())
  const writable = new WritableStream<Uint8Array>({
    write: (chunk) => runPromise(Effect.asVoid(Queue.offer(pending, chunk))),
    close: () => runPromise(Effect.asVoid(Queue.end(pending)))
  })
  const readable = yield* Stream.toReadableStreamEffect(Stream.tap(handle.stdout, () => onOutput))
  return { writable, readable, endInput: Effect.asVoid(Queue.end(pending)) }
})
