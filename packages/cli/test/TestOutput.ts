/**
 * An `Output` that keeps what it is given.
 */
import { Context, Effect, Layer, Ref } from "effect"
import { Output } from "../src/Output.ts"
import { PLAIN } from "../src/Style.ts"

/** What was written, in one piece. */
export class Written extends Context.Service<
  Written,
  { readonly stdout: Effect.Effect<string>; readonly stderr: Effect.Effect<string> }
>()("@buzz-orchestra/cli/test/Written") {}

/** As a terminal of 60 columns and 10 rows, or as a pipe. */
export const layer = (isTerminal: boolean): Layer.Layer<Output | Written> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const stdout = yield* Ref.make("")
      const stderr = yield* Ref.make("")
      let diverted: ((text: string) => Effect.Effect<void>) | undefined = undefined
      return Context.make(
        Output,
        Output.of({
          isTerminal,
          style: PLAIN,
          size: Effect.succeed({ columns: 60, rows: 10 }),
          write: (text) => Ref.update(stdout, (before) => before + text),
          writeError: (text) => Effect.suspend(() => diverted?.(text) ?? Ref.update(stderr, (before) => before + text)),
          divertErrors: (show) => Effect.sync(() => void (diverted = isTerminal ? show : undefined)),
          flush: Effect.void
        })
      ).pipe(Context.add(Written, { stdout: Ref.get(stdout), stderr: Ref.get(stderr) }))
    })
  )
