/**
 * The watch of an environment: one long-lived process inside that streams new log bytes and changes of processes' lives.
 * What that process does is in `internal/watchScript`, what its bytes mean in `internal/watchFrames`; this module
 * connects the two.
 *
 * A log that shrinks is read again from its beginning: its next `LogBytes` have offset 0. A log that was replaced by one
 * that is longer already cannot be told from one that grew. Names with a line break are not watched.
 */
import { type Cause, Duration, Effect, Option, Queue, type Scope, Stream } from "effect"
import { EnvironmentError, EnvironmentLost } from "./EnvironmentError.ts"
import { randomMarker } from "./internal/randomMarker.ts"
import { feedWatch, initialWatch } from "./internal/watchFrames.ts"
import { WATCH_SCRIPT } from "./internal/watchScript.ts"
import { FAREWELL, type OpenProcess } from "./ByteDuplex.ts"
import type { WatchEvent } from "./WatchEvent.ts"

/** What a watch needs of its environment. */
export interface WatchHost {
  /** Names the environment in errors. */
  readonly environment: string
  readonly open: OpenProcess
  /** Waits until the environment is gone, and says so. */
  readonly lost: Effect.Effect<EnvironmentError>
}

/** The end of the watch process may be the first sign that the environment ended. */
const LOSS_GRACE = Duration.millis(500)

/**
 * Starts following every `*.log` and `*.pid` in `directory`, an absolute path that need not exist yet. The scope ends the
 * process; the stream is for one consumer, whose pace is the process's pace, and never ends by itself: it fails with
 * `EnvironmentLost`.
 */
export const openWatch = Effect.fnUntraced(function* (
  host: WatchHost,
  directory: string
): Effect.fn.Return<Stream.Stream<WatchEvent, EnvironmentError>, EnvironmentError, Scope.Scope> {
  const marker = yield* randomMarker
  const duplex = yield* host.open(["sh", "-c", WATCH_SCRIPT, "watch", directory])
  const input = yield* Queue.make<Uint8Array, Cause.Done>()
  Queue.offerUnsafe(input, new TextEncoder().encode(`${marker.text.slice(1)}\n`))
  yield* Effect.forkScoped(Effect.ignore(Stream.run(Stream.fromQueue(input), duplex.stdin)))
  yield* Effect.forkScoped(Effect.ignore(Stream.runDrain(duplex.stderr)))
  yield* Effect.addFinalizer(() =>
    Effect.andThen(Queue.end(input), Effect.timeoutOption(Effect.exit(duplex.exitCode), FAREWELL))
  )
  const ended = Effect.flatMap(Effect.timeoutOption(host.lost, LOSS_GRACE), (lost) =>
    Effect.fail(Option.getOrElse(lost, () => watchEnded(host.environment)))
  )
  return duplex.stdout.pipe(
    Stream.mapAccum(() => initialWatch(marker), feedWatch),
    Stream.catch(() => Stream.empty),
    Stream.concat(Stream.fromEffect(ended))
  )
})

const watchEnded = (environment: string) =>
  new EnvironmentError({
    operation: "EnvironmentService.watch",
    reason: new EnvironmentLost({ environment, detail: "its watch process ended", exitCode: undefined })
  })
