/**
 * A process in an environment as three byte streams: what an environment must offer for everything else to be built on.
 */
import { Duration, type Effect, type Scope, type Sink, type Stream } from "effect"
import type { EnvironmentError } from "./EnvironmentError.ts"

/** A process in an environment, as three byte streams. */
export interface ByteDuplex {
  /** Its standard input, which ends when the stream that runs into the sink ends. Run once. */
  readonly stdin: Sink.Sink<void, Uint8Array, never, EnvironmentError>
  readonly stdout: Stream.Stream<Uint8Array, EnvironmentError>
  readonly stderr: Stream.Stream<Uint8Array, EnvironmentError>
  /** Waits for its end: 0–255, 128 + n when signal n ended it. */
  readonly exitCode: Effect.Effect<number, EnvironmentError>
}

/**
 * Starts a program in an environment, as `user` or the environment's own user. The scope owns the connection: closing it ends
 * the program's stdin, but not surely the program.
 */
export type OpenProcess = (
  argv: readonly [string, ...ReadonlyArray<string>],
  options?: { readonly user?: string | undefined }
) => Effect.Effect<ByteDuplex, EnvironmentError, Scope.Scope>

/**
 * How long a program whose stdin has ended may take to go by itself. One that is cut off instead is left to whoever reaps orphans.
 */
export const FAREWELL: Duration.Duration = Duration.millis(300)
