/**
 * Bytes into or out of a process in an environment, to its end.
 */
import { Duration, Effect, Option, Stream } from "effect"
import { EnvironmentError, TransferFailed } from "../EnvironmentError.ts"
import type { OpenProcess } from "../ByteDuplex.ts"
import { makeHeadTail } from "./headTail.ts"

export type Direction = "upload" | "download"

export interface TransferHost {
  readonly environment: string
  readonly open: OpenProcess
  /** Waits until the environment is gone, and says so. */
  readonly lost: Effect.Effect<EnvironmentError>
}

/** An environment that ended ends its processes first, and is noticed a moment later. */
const LOSS_GRACE = Duration.millis(500)

const COMPLAINT_BYTES = 4096

/** A transfer's failure; `path` is the path inside the environment. */
export const transferFailed = (
  environment: string,
  direction: Direction,
  path: string,
  detail: string,
  cause?: unknown
): EnvironmentError =>
  new EnvironmentError({
    operation: `EnvironmentService.${direction}`,
    reason: new TransferFailed({
      environment,
      direction,
      path,
      detail: detail === "" ? "no reason was given" : detail,
      ...(cause === undefined ? {} : { cause })
    })
  })

export interface Transfer {
  readonly direction: Direction
  /** Path inside the environment. */
  readonly path: string
  readonly argv: readonly [string, ...ReadonlyArray<string>]
  readonly user?: string | undefined
  /** Default: nothing. */
  readonly input?: Stream.Stream<Uint8Array, EnvironmentError>
  /** Default: what the process prints is dropped. */
  readonly output?: (bytes: Stream.Stream<Uint8Array, EnvironmentError>) => Effect.Effect<void, EnvironmentError>
  /** Exit codes that are no failure. Default: only 0. */
  readonly accept?: ReadonlyArray<number>
}

/**
 * Runs the process to its end. A failing input is reported as such, although the process fails then, too: it sees an end
 * that came too early.
 */
export const runTransfer = (host: TransferHost, transfer: Transfer): Effect.Effect<void, EnvironmentError> =>
  Effect.gen(function* () {
    const duplex = yield* host.open(transfer.argv, { user: transfer.user })
    let inputError: EnvironmentError | undefined
    yield* (transfer.input ?? Stream.empty).pipe(
      Stream.tapError((error) => Effect.sync(() => (inputError = error))),
      Stream.run(duplex.stdin),
      Effect.ignore,
      Effect.forkScoped
    )
    const complaints = makeHeadTail(COMPLAINT_BYTES)
    yield* Effect.all(
      [
        (transfer.output ?? Stream.runDrain)(duplex.stdout),
        Stream.runForEach(duplex.stderr, (bytes) => Effect.sync(() => complaints.push(bytes)))
      ],
      { concurrency: "unbounded", discard: true }
    )
    const exitCode = yield* duplex.exitCode
    if (inputError !== undefined) return yield* inputError
    if ((transfer.accept ?? [0]).includes(exitCode)) return
    const lost = exitCode > 128 ? yield* Effect.timeoutOption(host.lost, LOSS_GRACE) : Option.none()
    if (Option.isSome(lost)) return yield* lost.value
    const said = new TextDecoder().decode(complaints.bytes()).trim()
    return yield* transferFailed(
      host.environment,
      transfer.direction,
      transfer.path,
      said === "" ? `it ended with exit code ${exitCode}` : said
    )
  }).pipe(Effect.scoped)
