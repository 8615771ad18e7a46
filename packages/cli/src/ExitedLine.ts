/**
 * The last line of `--json` for commands that end before, or without, a trial.
 */
import { Clock, Effect } from "effect"
import * as Failure from "./Failure.ts"
import { type Exited, exitedLine } from "./JsonLines.ts"
import { Output } from "./Output.ts"

/** Writes the line. */
export const writeExited = Effect.fnUntraced(function* (exited: Pick<Exited, "exitCode" | "error">) {
  const output = yield* Output
  const at = yield* Clock.currentTimeMillis
  yield* output.write(`${exitedLine(at, { outcome: undefined, directory: undefined, ...exited })}\n`)
})

/** With `json`, writes the line for every error that commands are expected to end with. */
export const announceError =
  (json: boolean) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Output> =>
    Effect.tapError(effect, (error) => {
      if (!json || !Failure.isKnown(error)) return Effect.void
      const { exitCode, line, next, reason } = Failure.fromError(error)
      return writeExited({ exitCode, error: { reason, message: line, next } })
    })
