/**
 * Needs `node:stream` and `node:net`: the hijacked connection of an exec as a `ByteDuplex`.
 */
import { type Cause, Deferred, Duration, Effect, Queue, type Scope, Sink, Stream } from "effect"
import { Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { ByteDuplex } from "../../ByteDuplex.ts"
import { CommandNotRun, EnvironmentError } from "../../EnvironmentError.ts"
import type { EngineError } from "../EngineError.ts"
import * as RawStream from "../RawStream.ts"

/** Pieces of one output that may wait for their reader. Both outputs share a socket: neither may be left unread. */
const PIECES = 64

/** A process whose output somebody else holds has ended although its stream has not: it is asked about this often. */
const HELD_PAUSE = Duration.millis(500)

/** The engine may know of the end a moment after the stream has ended. */
const LATE_PAUSE = Duration.millis(20)

/** Idle connections through a network are dropped by what lies between unless something is sent. */
const KEEP_ALIVE_MILLIS = 30_000

/** What is known of a process by `GET /exec/{id}/json`. */
interface ExecState {
  readonly Running: boolean
  readonly ExitCode: number | null
}

/** `socket` belongs to the scope already (`hijacked`). `address` names the engine in errors. */
export const execDuplex = Effect.fnUntraced(function* (
  socket: Duplex,
  address: string,
  inspect: Effect.Effect<ExecState, EngineError>
): Effect.fn.Return<ByteDuplex, never, Scope.Scope> {
  const broken = (cause: unknown) =>
    new EnvironmentError({
      operation: "ContainerEngine.exec",
      reason: new CommandNotRun({
        environment: address,
        action: "talk to a process in the container",
        detail: cause instanceof Error ? cause.message : String(cause)
      })
    })
  const outputs = {
    stdout: yield* Queue.bounded<Uint8Array, EnvironmentError | Cause.Done>(PIECES),
    stderr: yield* Queue.bounded<Uint8Array, EnvironmentError | Cause.Done>(PIECES)
  }
  const ended = yield* Deferred.make<void>()
  let state = RawStream.initial
  yield* Stream.fromAsyncIterable(socket as AsyncIterable<Buffer>, broken).pipe(
    Stream.runForEach((chunk) => {
      const [next, pieces] = RawStream.feed(state, chunk)
      state = next
      return Effect.forEach(pieces, ({ bytes, output }) => Queue.offer(outputs[output], bytes), { discard: true })
    }),
    // A process that ended before it read all of its stdin resets the connection: its exit code says what is to be said.
    Effect.ignore,
    Effect.ensuring(
      Effect.all([Queue.end(outputs.stdout), Queue.end(outputs.stderr), Deferred.succeed(ended, undefined)])
    ),
    Effect.forkScoped
  )
  const write = (bytes: Uint8Array) =>
    Effect.callback<void, EnvironmentError>((resume) => {
      socket.write(bytes, (error) =>
        resume(error === null || error === undefined ? Effect.void : Effect.fail(broken(error)))
      )
    })
  const exitCode = Effect.gen(function* () {
    while (true) {
      yield* Effect.timeoutOption(Deferred.await(ended), HELD_PAUSE)
      const { ExitCode, Running } = yield* Effect.mapError(inspect, broken)
      if (!Running && ExitCode !== null) return ExitCode
      if (Deferred.isDoneUnsafe(ended)) yield* Effect.sleep(LATE_PAUSE)
    }
  })
  return {
    stdin: Sink.forEach(write).pipe(Sink.ensuring(Effect.sync(() => socket.end()))),
    stdout: Stream.fromQueue(outputs.stdout),
    stderr: Stream.fromQueue(outputs.stderr),
    exitCode
  }
})

/** A hijacked connection under the scope, which closes it. An error of one that nobody reads must not end the process. */
export const hijacked = (open: Effect.Effect<Duplex, EngineError>): Effect.Effect<Duplex, EngineError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tap(open, (socket) =>
      Effect.sync(() => {
        socket.on("error", () => {})
        if (socket instanceof Socket) socket.setKeepAlive(true, KEEP_ALIVE_MILLIS)
      })
    ),
    (socket) => Effect.sync(() => socket.destroy()),
    // An engine that hangs must not keep whoever waits for it.
    { interruptible: true }
  )
